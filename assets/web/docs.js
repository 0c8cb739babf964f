// The API docs: routes from /openapi.json, each with a form that sends it.
const el = (tag, props, ...children) => { const e = Object.assign(document.createElement(tag), props); e.append(...children); return e }
const encode = v => encodeURIComponent(v).replaceAll('%3A', ':')
function operation(path, op) {
  const inputs = new Map()
  const row = p => {
    const input = el('input', { placeholder: (p.schema.examples || p.schema.enum || [])[0] || '', ariaLabel: p.name })
    inputs.set(p, input)
    return el('tr', {}, el('td', {}, el('code', {}, p.name + (p.required ? ' *' : ''))), el('td', {}, input), el('td', {}, p.description || ''))
  }
  // Comparisons (date.gte and the like) are many and rarely needed.
  const isComparison = p => p.name.includes('.')
  const parameters = op.parameters || [], comparisons = parameters.filter(isComparison)
  const table = list => el('table', {}, ...list.map(row))
  const more = comparisons.length ? [el('details', {}, el('summary', {}, 'Comparisons of numbers and dates'), table(comparisons))] : []
  const out = el('pre', { hidden: true })
  const run = el('button', { onclick: async () => {
    let url = path; const query = []
    for (const [p, input] of inputs) {
      const value = input.value || (p.required ? input.placeholder : '')
      if (p.in === 'path') url = url.replace('{' + p.name + '}', encode(value))
      else if (value) query.push(p.name + '=' + encode(value))
    }
    if (query.length) url += '?' + query.join('&')
    out.hidden = false; out.textContent = 'GET ' + url
    const key = document.getElementById('key').value.trim()
    const answer = await fetch(url, key ? { headers: { Authorization: 'Bearer ' + key } } : {}), text = await answer.text()
    let shown = text; try { shown = JSON.stringify(JSON.parse(text), null, 2) } catch {}
    out.textContent = 'GET ' + url + '\n' + answer.status + '\n\n' + shown
  } }, 'Send')
  return el('details', {}, el('summary', {}, el('code', {}, path), el('span', {}, op.summary || '')), table(parameters.filter(p => !isComparison(p))), ...more, run, out)
}
fetch('/openapi.json').then(r => r.json()).then(api => {
  const routes = document.getElementById('routes'); routes.textContent = ''
  const all = Object.entries(api.paths).map(([path, item]) => [(path + ' ' + (item.get.summary || '')).toLowerCase(), operation(path, item.get)])
  routes.append(...all.map(([, e]) => e))
  document.getElementById('find').oninput = e => {
    const words = e.target.value.toLowerCase().split(/\s+/)
    all.forEach(([text, d]) => d.hidden = !words.every(word => text.includes(word)))
  }
  const codes = api.components.schemas.ErrorBody.properties.code.description.split('\n')
  document.getElementById('errors').append(...codes.map(line => { const [head, ...rest] = line.split('): ')
    return el('tr', {}, el('td', {}, el('code', {}, head + ')')), el('td', {}, rest.join('): '))) }))
}).catch(e => { document.getElementById('routes').textContent = 'The API description could not be loaded: ' + e })
