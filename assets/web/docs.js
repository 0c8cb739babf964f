// The API docs: forms for the routes of /openapi.json, which send them. A form is made when its route is opened: there are
// many, with many parameters.
const el = (tag, props, ...children) => { const e = Object.assign(document.createElement(tag), props); e.append(...children); return e }
const encode = v => encodeURIComponent(v).replaceAll('%3A', ':')
const guess = v => { try { return JSON.parse(v) } catch { return v } }
function form(method, path, op) {
  const inputs = new Map()
  const row = p => {
    const input = el('input', { placeholder: (p.schema.examples || p.schema.enum || [])[0] || '', ariaLabel: p.name })
    inputs.set(p, input)
    return el('tr', {}, el('td', {}, el('code', {}, p.name + (p.required ? ' *' : ''))), el('td', {}, input), el('td', {}, p.description || ''))
  }
  const heading = text => { const th = el('th', {}, text); th.scope = 'col'; return th }
  const table = (name, list) => {
    const body = el('table', {}, el('caption', {}, name), el('thead', {}, el('tr', {}, ...['Name', 'Value', 'Meaning'].map(heading))), el('tbody', {}, ...list.map(row)))
    return el('div', { className: 'scroll', tabIndex: 0, role: 'region', ariaLabel: name }, body)
  }
  const sent = op.requestBody?.content['application/json'].schema
  const members = Object.entries(sent?.properties || {}).map(([name, schema]) => ({ name, schema, in: 'body', description: schema.description, required: sent.required.includes(name) }))
  // Comparisons (date.gte and the like) are many and rarely needed.
  const isComparison = p => p.name.includes('.')
  const all = [...(op.parameters || []), ...members], comparisons = all.filter(isComparison), others = all.filter(p => !isComparison(p))
  const parts = others.length ? [table('Parameters', others)] : []
  if (comparisons.length) parts.push(el('details', {}, el('summary', {}, 'Comparisons of numbers and dates'), table('Comparisons', comparisons)))
  const out = el('pre', { hidden: true, tabIndex: 0 })
  const run = el('button', { type: 'button', onclick: async () => {
    let url = path; const query = [], body = {}
    for (const [p, input] of inputs) {
      const value = input.value || (p.required ? input.placeholder : '')
      if (p.in === 'path') url = url.replace('{' + p.name + '}', encode(value))
      else if (value && p.in === 'body') body[p.name] = guess(value)
      else if (value) query.push(p.name + '=' + encode(value))
    }
    if (query.length) url += '?' + query.join('&')
    const asked = method.toUpperCase() + ' ' + url
    out.hidden = false; out.textContent = asked
    const key = document.getElementById('key').value.trim()
    const headers = { ...(key ? { Authorization: 'Bearer ' + key } : {}), ...(sent ? { 'Content-Type': 'application/json' } : {}) }
    try {
      const answer = await fetch(url, { method, headers, body: sent && JSON.stringify(body) }), text = await answer.text()
      let shown = text; try { shown = JSON.stringify(JSON.parse(text), null, 2) } catch {}
      out.textContent = asked + '\n' + answer.status + '\n\n' + shown
    } catch (e) { out.textContent = asked + '\n' + e }
  } }, 'Send')
  return [...parts, el('p', {}, run), out]
}
function route(method, path, op) {
  const summary = el('summary', {}, el('code', {}, method.toUpperCase() + ' ' + path), ' ', el('span', {}, op.summary || ''))
  const route = el('details', {}, summary)
  route.addEventListener('toggle', () => route.append(...form(method, path, op)), { once: true })
  return route
}
fetch('/openapi.json').then(r => r.json()).then(api => {
  const each = ([path, item]) => Object.entries(item).map(([method, op]) => [(path + ' ' + (op.summary || '')).toLowerCase(), route(method, path, op)])
  const all = Object.entries(api.paths).flatMap(each)
  document.getElementById('routes').replaceChildren(...all.map(([, e]) => e))
  document.getElementById('find').oninput = e => {
    const words = e.target.value.toLowerCase().split(/\s+/)
    all.forEach(([text, d]) => d.hidden = !words.every(word => text.includes(word)))
  }
  document.getElementById('tools').hidden = false
})
