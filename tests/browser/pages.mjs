// The pages in a real browser: what only a browser can tell. Drives Chromium over its debugging protocol with
// nothing but Node's own WebSocket. AXE names axe-core's file; without it its checks are skipped.
//
//   tests/browser/run [--screenshots FOLDER]
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const [binary, chromium, ...rest] = process.argv.slice(2)
const shots = rest[0] === '--screenshots' ? rest[1] : null
const folder = mkdtempSync(join(tmpdir(), 'josh-browser-'))
const children = []
let failures = 0, passed = 0

function line(child, stream, pattern) {
  return new Promise((done, failed) => {
    let text = ''
    const timer = setTimeout(() => failed(new Error(`no ${pattern} within 60 s: ${text}`)), 60_000)
    child[stream].on('data', part => { text += part; const found = text.match(pattern); if (found) { clearTimeout(timer); done(found) } })
    child.on('exit', code => failed(new Error(`ended with ${code}: ${text}`)))
  })
}

const josh = spawn(binary, ['serve', '--listen', '127.0.0.1:0'], { env: { PATH: process.env.PATH, HOME: folder, XDG_CACHE_HOME: folder } })
children.push(josh)
const base = (await line(josh, 'stderr', /web\s+(http:\/\/[^\s/]+)/))[1]
const browser = spawn(chromium, ['--headless=new', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run', '--remote-debugging-port=0', `--user-data-dir=${folder}/profile`, 'about:blank'])
children.push(browser)
const address = (await line(browser, 'stderr', /DevTools listening on (ws:\S+)/))[1]
const socket = new WebSocket(address)
await new Promise((done, failed) => { socket.onopen = done; socket.onerror = failed })

let next = 0
const waiting = new Map(), refused = []
let loaded = () => {}, shown = ''
socket.onmessage = ({ data }) => {
  const message = JSON.parse(data)
  if (message.id) { const { done, failed } = waiting.get(message.id); waiting.delete(message.id); message.error ? failed(new Error(message.error.message)) : done(message.result) }
  else if (message.method === 'Page.loadEventFired') loaded()
  else if (message.method === 'Log.entryAdded' && message.params.entry.level === 'error') {
    // The page of an error is one; what it loads must be there.
    if (message.params.entry.url !== shown) refused.push(message.params.entry.text)
  }
  else if (message.method === 'Runtime.exceptionThrown') refused.push(message.params.exceptionDetails.exception?.description ?? 'an exception')
  else if (message.method === 'Network.requestWillBeSent') { const url = message.params.request.url; if (!url.startsWith(base) && !url.startsWith('data:')) refused.push(`a request to ${url}`) }
}
const send = (method, params = {}, sessionId = session) => new Promise((done, failed) => {
  const id = ++next
  waiting.set(id, { done, failed })
  socket.send(JSON.stringify({ id, method, params, sessionId }))
})
let session
const { targetId } = await send('Target.createTarget', { url: 'about:blank' })
session = (await send('Target.attachToTarget', { targetId, flatten: true })).sessionId
for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await send(`${domain}.enable`)

const settle = () => new Promise(done => { const timer = setTimeout(done, 20_000); loaded = () => { clearTimeout(timer); setTimeout(done, 50) } })
async function open(path) { const ready = settle(); shown = base + path; await send('Page.navigate', { url: base + path }); await ready }
async function evaluate(expression) {
  const { result, exceptionDetails } = await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? expression)
  return result.value
}
async function until(expression, what) {
  for (let n = 0; n < 300; n++) { if (await evaluate(expression)) return; await new Promise(done => setTimeout(done, 100)) }
  throw new Error(what)
}
const width = (px, height = 900) => send('Emulation.setDeviceMetricsOverride', { width: px, height, deviceScaleFactor: 1, mobile: px < 600 })
const scheme = value => send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] })
async function press(key, code = key, text = key) { for (const type of ['keyDown', 'keyUp']) await send('Input.dispatchKeyEvent', { type, key, code, ...(key === 'Tab' ? { windowsVirtualKeyCode: 9 } : {}), ...(type === 'keyDown' && text ? { text } : {}) }) }
async function leads(act) { const ready = settle(); await act(); await ready }
function must(is, what) { if (!is) throw new Error(what) }
async function test(name, body) {
  refused.length = 0
  try { await body(); must(!refused.length, `refused: ${refused.join('; ')}`); passed++; console.log(`ok      ${name}`) }
  catch (error) { failures++; console.log(`FAILED  ${name}: ${error.message}`) }
}

const PAGES = { home: '/', sources: '/sources', search: '/search?q=water', list: '/bills?status=enacted', bill: '/bills/hr:119:1', text: '/bills/hr:119:1/body', actions: '/bills/hr:119:1/actions', vote: '/roll-call-votes/senate:119:1:372', member: '/legislators/M000133', chart: '/bills?bucket_by_time=introduced_date&time_interval=month&group_by=status', bars: '/bills?group_by=policy_area', fields: '/sources/bills', guide: '/guides/ids', api: '/docs', agents: '/mcp', error: '/bilsl' }

for (const px of [320, 1200]) await test(`no page scrolls sideways at ${px} px`, async () => {
  await width(px)
  for (const [name, path] of Object.entries(PAGES)) {
    await open(path)
    const [page, window_] = await evaluate('[document.documentElement.scrollWidth, innerWidth]')
    must(page <= window_, `${name} is ${page} px wide`)
  }
})
await width(1200)
await test('search from the home page, then narrow by a facet', async () => {
  await open('/')
  await evaluate(`document.getElementById('q').value = 'water'`)
  await leads(() => evaluate(`document.querySelector('form[role=search]').requestSubmit()`))
  must(await evaluate(`location.pathname + location.search`) === '/search?q=water', await evaluate('location.href'))
  const count = await evaluate(`Number(document.querySelector('.facet li a .n').textContent.replace(',', ''))`)
  await leads(() => evaluate(`document.querySelector('.facet li a').click()`))
  const shown = await evaluate(`document.querySelectorAll('.results > li').length`)
  must(shown === Math.min(count, 20), `${shown} results, the facet said ${count}`)
})
await test('a heading sorts the list, both ways', async () => {
  await open('/bills')
  const order = `document.querySelector('th[aria-sort]')?.getAttribute('aria-sort')`
  const days = `[...document.querySelectorAll('td.date')].map(td => td.textContent)`
  const click = () => leads(() => evaluate(`[...document.querySelectorAll('thead a')].find(a => a.textContent.startsWith('Introduced')).click()`))
  await click()
  must(await evaluate(order) === 'descending', 'newest first')
  must((await evaluate(days)).every((day, at, all) => !at || all[at - 1] >= day), 'days go down')
  await click()
  must(await evaluate(order) === 'ascending', 'oldest first')
})
await test('keys: / searches, j and k walk, Enter opens', async () => {
  await open('/bills')
  await press('/', 'Slash')
  must(await evaluate(`document.activeElement.id`) === 'q', 'the search box has the focus')
  await evaluate(`document.activeElement.blur()`)
  await press('j', 'KeyJ'); await press('j', 'KeyJ'); await press('k', 'KeyK')
  const first = await evaluate(`document.querySelector('tbody tr a').href`)
  must(await evaluate(`document.activeElement.href`) === first, 'the first record has the focus')
  await leads(() => press('Enter', 'Enter', '\r'))
  must(await evaluate('location.href') === first, 'Enter opens it')
})
await test('Tab reaches the skip link first, which leads to the content', async () => {
  await open('/bills')
  await press('Tab', 'Tab', null)
  must(await evaluate(`document.activeElement.className`) === 'skip', 'the skip link has the focus')
  must(await evaluate(`document.activeElement.getBoundingClientRect().left >= 0`), 'it can be seen')
  await press('Enter', 'Enter', '\r')
  await until(`location.hash === '#main'`, 'Enter follows it')
})
await test('a choice is sent when it is made, a citation is copied by its button', async () => {
  await open('/search?q=water')
  await leads(() => evaluate(`{ const mode = document.getElementById('mode'); mode.value = 'lexical'; mode.dispatchEvent(new Event('change', { bubbles: true })) }`))
  must((await evaluate('location.search')).includes('mode=lexical'), await evaluate('location.search'))
  await open('/bills/hr:119:1')
  const button = `document.querySelector('button[data-copy]')`
  must(await evaluate(`!${button}.hidden`), 'the button is there')
  await evaluate(`navigator.clipboard.writeText = async text => { window.copied = text }`)
  await evaluate(`${button}.click()`)
  await until(`window.copied === ${button}.dataset.copy && ${button}.textContent === 'Copied'`, 'it copies the citation')
})
await test('dark mode follows the system, t changes it, and the choice is kept', async () => {
  const colour = `getComputedStyle(document.body).backgroundColor`
  await scheme('light'); await open('/')
  const light = await evaluate(colour)
  await scheme('dark')
  const dark = await evaluate(colour)
  must(light !== dark, 'the system decides')
  await press('t', 'KeyT')
  must(await evaluate(colour) === light, 't changes it')
  await open('/bills')
  must(await evaluate(colour) === light, 'it is kept')
  await evaluate('localStorage.clear()')
  await scheme('light')
})
await send('Emulation.setScriptExecutionDisabled', { value: true })
await test('everything is there without JavaScript', async () => {
  const count = async selector => {
    const { root } = await send('DOM.getDocument')
    return (await send('DOM.querySelectorAll', { nodeId: root.nodeId, selector })).nodeIds.length
  }
  for (const path of Object.values(PAGES)) {
    await open(path)
    must(await count('h1') === 1, `${path} has ${await count('h1')} headings`)
  }
  await open('/docs')
  must(await count('#routes li') > 50, 'the routes are listed')
})
await send('Emulation.setScriptExecutionDisabled', { value: false })
await test('the API docs list routes and send one', async () => {
  await open('/docs')
  await until(`document.querySelectorAll('#routes details').length > 50`, 'routes')
  await evaluate(`{ const find = document.getElementById('find'); find.value = '/v1/bills/{id} '; find.dispatchEvent(new Event('input')) }`)
  const route = `[...document.querySelectorAll('#routes details')].find(route => !route.hidden)`
  await evaluate(`${route}.open = true`)
  await until(`${route}.querySelector('button')`, 'a form')
  await evaluate(`${route}.querySelector('button').click()`)
  await until(`${route}.querySelector('pre').textContent.includes('\\n200\\n')`, 'an answer')
})
if (!process.env.AXE) console.log('SKIPPED axe-core: npm did not install it here')
const axe = process.env.AXE ? readFileSync(process.env.AXE, 'utf8') : null
for (const mode of axe ? ['light', 'dark'] : []) await test(`axe-core finds nothing on ${Object.keys(PAGES).length} pages (${mode})`, async () => {
  await scheme(mode)
  for (const [name, path] of Object.entries(PAGES)) {
    await open(path)
    if (path === '/docs') await until(`document.querySelector('#routes details')`, 'routes')
    // What is folded away is checked as well.
    await evaluate(`for (const closed of [...document.querySelectorAll('main details:not(.api details)')].slice(0, 40)) closed.open = true`)
    await evaluate(axe + ';0')
    const found = await evaluate(`axe.run().then(r => r.violations.map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(' | ')))`)
    must(!found.length, `${name}: ${found.join('; ')}`)
  }
  await scheme('light')
})

// What docs/explorer.md shows: name, page, width, height, theme.
const SHOTS = [
  ['home', PAGES.home, 1000, 720, 'light'],
  ['search', '/search?q=drinking+water', 1000, 720, 'light'],
  ['list', PAGES.list, 1000, 720, 'light'],
  ['bill', PAGES.bill, 1000, 720, 'light'],
  ['text', PAGES.text, 1000, 720, 'light'],
  ['vote', PAGES.vote, 1000, 720, 'light'],
  ['chart', PAGES.chart, 1000, 800, 'dark'],
  ['bars', PAGES.bars, 1000, 600, 'dark'],
  ['search-phone', '/search?q=drinking+water', 320, 640, 'light'],
  ['bill-phone', PAGES.bill, 320, 640, 'dark'],
]
if (shots) {
  mkdirSync(shots, { recursive: true })
  for (const [name, path, px, height, mode] of SHOTS) {
    await width(px, height)
    await scheme(mode)
    await open(path)
    const { data } = await send('Page.captureScreenshot', { format: 'webp', quality: 40 })
    writeFileSync(join(shots, `${name}.webp`), Buffer.from(data, 'base64'))
  }
}
socket.close()
for (const child of children) { child.removeAllListeners('exit'); child.kill() }
setTimeout(() => { try { rmSync(folder, { recursive: true, force: true }) } catch {} ; console.log(`browser: ${passed} passed, ${failures} failed`); process.exit(failures ? 1 : 0) }, 500)
