// Comfort only: every page works without it. "/" focuses the search box, j and k walk through results, Enter opens one,
// t changes the theme, buttons copy citations, empty fields of a form stay out of the address.
(() => {
  const root = document.documentElement
  const store = { get: () => { try { return localStorage.getItem('theme') } catch { return null } }, set: v => { try { localStorage.setItem('theme', v) } catch {} } }
  if (store.get()) root.dataset.theme = store.get()
  const isTyping = e => /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) || e.ctrlKey || e.metaKey || e.altKey
  let at = -1
  const walk = step => {
    const items = [...document.querySelectorAll('[data-walk] > *')]
    if (!items.length) return
    items[at]?.classList.remove('here')
    at = Math.min(Math.max(at + step, 0), items.length - 1)
    items[at].classList.add('here')
    items[at].querySelector('a')?.focus()
    items[at].scrollIntoView({ block: 'nearest' })
  }
  addEventListener('keydown', e => {
    if (isTyping(e)) return
    if (e.key === '/') { e.preventDefault(); document.getElementById('q')?.focus() }
    else if (e.key === 'j') walk(1)
    else if (e.key === 'k') walk(-1)
    else if (e.key === 't') {
      const isDark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches
      root.dataset.theme = isDark ? 'light' : 'dark'
      store.set(root.dataset.theme)
    }
  })
  addEventListener('DOMContentLoaded', () => {
    for (const form of document.querySelectorAll('form[method=get], form:not([method])')) {
      form.addEventListener('submit', () => { for (const field of form.elements) if (field.name && !field.value) field.disabled = true })
      for (const field of form.querySelectorAll('[data-submit]')) { field.addEventListener('change', () => form.requestSubmit()); form.querySelector('button').hidden = true }
    }
    addEventListener('pageshow', () => { for (const field of document.querySelectorAll(':disabled')) field.disabled = false })
    for (const button of document.querySelectorAll('button[data-copy]')) {
      button.hidden = false
      button.addEventListener('click', async () => {
        try { await navigator.clipboard.writeText(button.dataset.copy); button.textContent = 'Copied' } catch { button.textContent = 'Select the text to copy it' }
      })
    }
  })
})()
