// Runs in a world of its own in the page: sees its elements, shares none of its variables. One call,
// one answer; nothing stays. `fold` is the twin of fold.rs.
(request) => {
  const fold = (text) => (text || '').normalize('NFKC')
    .replace(/[\u200b-\u200f\ufeff\u00ad]/g, '')
    .replace(/[\u2018\u2019\u201b\u2032`\u00b4]/g, "'")
    .replace(/[\u201c\u201d\u201f\u2033]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/\s+/g, ' ').trim().toLowerCase();
  const shown = (element) => {
    if (!element || !element.isConnected) return false;
    const box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    return box.width > 0 && box.height > 0 && style.visibility !== 'hidden' && style.display !== 'none'
      && box.right > 0 && box.left < innerWidth + scrollX + 2000 && Number(style.opacity) > 0.01;
  };
  const text = (element) => (element.innerText ?? element.textContent ?? '').trim();
  const labels = (element) => {
    const own = element.labels ? [...element.labels] : [];
    const ids = (element.getAttribute('aria-labelledby') || '').split(/\s+/).filter(Boolean);
    return own.concat(ids.map((id) => document.getElementById(id)).filter(Boolean));
  };
  const name = (element) => {
    const said = element.getAttribute('aria-label');
    if (said) return said;
    const labelled = labels(element).map(text).join(' ').trim();
    if (labelled) return labelled;
    if (element.tagName === 'INPUT' && ['submit', 'button', 'reset'].includes(element.type)) return element.value;
    if (element.tagName === 'INPUT') return element.title || element.placeholder || '';
    return text(element) || element.title || '';
  };
  const ROLES = {
    button: 'button, [role=button], input[type=submit], input[type=button]',
    link: 'a[href], [role=link]', checkbox: 'input[type=checkbox], [role=checkbox]',
    radio: 'input[type=radio], [role=radio]', option: 'option, [role=option]', heading: 'h1, h2, h3, h4, [role=heading]',
    textbox: 'input:not([type]), input[type=text], input[type=number], input[type=search], input[type=tel], textarea, [role=textbox]',
  };
  const root = () => {
    if (!request.within) return document;
    const items = [...document.querySelectorAll(request.within.item)].filter(shown);
    return items[request.within.index] || null;
  };
  // All elements that a locator means. What is hidden counts only for radios and checkboxes, whose
  // labels are clicked instead.
  const all = (locator, base) => {
    const usable = (element) => shown(element)
      || (element.tagName === 'INPUT' && ['radio', 'checkbox'].includes(element.type) && labels(element).some(shown));
    if (locator.startsWith('role=')) {
      const [, role, wanted] = /^role=(\w+)\[(.*)\]$/s.exec(locator) || [];
      if (!role) return [];
      return [...base.querySelectorAll(ROLES[role] || 'none')].filter((e) => usable(e) && fold(name(e)) === fold(wanted));
    }
    if (locator.startsWith('label=')) {
      const wanted = fold(locator.slice(6));
      const controls = [...base.querySelectorAll('input, select, textarea')];
      return controls.filter((e) => usable(e) && fold(name(e)) === wanted);
    }
    return [...base.querySelectorAll(locator)].filter(usable);
  };
  // The first locator that means exactly one element.
  const locate = (find) => {
    const base = root();
    if (!base) return { counts: find.map(() => 0) };
    const counts = [];
    for (const [index, locator] of find.entries()) {
      let found = [];
      try { found = all(locator, base); } catch { /* no selector: matches nothing */ }
      counts.push(found.length);
      if (found.length === 1) return { element: found[0], index, counts };
    }
    return { counts };
  };
  const target = (element) => (shown(element) ? element : labels(element).find(shown));
  const point = (element) => {
    const at = target(element);
    if (!at) return { reason: 'hidden' };
    at.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    const box = at.getBoundingClientRect();
    const boxes = [box, ...at.getClientRects()];
    for (const box of boxes) {
      const x = box.left + box.width / 2, y = box.top + box.height / 2;
      const top = document.elementFromPoint(x, y);
      if (top && (at.contains(top) || top.contains(at) || labels(element).some((l) => l.contains(top)))) return { x, y };
    }
    return { reason: 'covered' };
  };
  const state = (element) => ({
    tag: element.tagName.toLowerCase(), type: element.type || '',
    value: element.tagName === 'SELECT' ? '' : String(element.value ?? ''),
    checked: !!element.checked || element.getAttribute('aria-checked') === 'true',
    disabled: !!element.disabled || element.getAttribute('aria-disabled') === 'true',
    readonly: !!element.readOnly,
    option: element.tagName === 'SELECT' && element.selectedIndex >= 0
      ? { value: element.options[element.selectedIndex].value, text: element.options[element.selectedIndex].text } : null,
  });
  const require = (work) => {
    const found = locate(request.find);
    if (!found.element) return { missing: true, counts: found.counts };
    return { index: found.index, ...state(found.element), ...work(found.element) };
  };
  const describe = (element) => ({
    tag: element.tagName.toLowerCase(), type: element.type || '', id: element.id || '', name: element.name || '',
    label: fold(name(element)).slice(0, 80),
    required: element.required || element.getAttribute('aria-required') === 'true',
    empty: ['radio', 'checkbox'].includes(element.type)
      ? !(element.name ? [...document.getElementsByName(element.name)].some((e) => e.checked) : element.checked)
      : String(element.value ?? '') === '',
  });
  switch (request.op) {
    case 'state': {
      const body = fold(document.body ? document.body.innerText : '');
      const path = location.pathname.replace(/\/+$/, '') || '/';
      const one = (at) => (!at.path || (at.path.replace(/\/+$/, '') || '/') === path)
        && at.text.every((words) => body.includes(fold(words)))
        && at.has.every((locator) => { try { return all(locator, document).length > 0; } catch { return false; } });
      const errors = request.errors.flatMap((locator) => { try { return [...document.querySelectorAll(locator)]; } catch { return []; } })
        .filter(shown).map(text).filter(Boolean);
      return {
        ready: document.readyState, path, host: location.host, scheme: location.protocol, title: document.title,
        at: request.at.map(one), errors: [...new Set(errors)].slice(0, 5),
      };
    }
    case 'inventory':
      return [...document.querySelectorAll('input:not([type=hidden]), select, textarea')]
        .filter((e) => shown(e) || labels(e).some(shown)).slice(0, 200).map(describe);
    case 'meant': {
      // Whether the required controls are all known: by being meant by one of these locators.
      const known = new Set(request.known.flatMap((locator) => { try { return all(locator, document); } catch { return []; } }));
      const names = new Set([...known].map((e) => e.name).filter(Boolean));
      return [...document.querySelectorAll('input:not([type=hidden]), select, textarea')]
        .filter((e) => (shown(e) || labels(e).some(shown)) && !known.has(e) && !(e.name && names.has(e.name)))
        .map(describe).filter((e) => e.required && e.empty).slice(0, 20);
    }
    case 'look': return require(() => ({}));
    case 'point': return require((element) => point(element));
    case 'focus': return require((element) => {
      element.scrollIntoView({ block: 'center', behavior: 'instant' });
      element.focus();
      if (element.select) element.select();
      return { focused: document.activeElement === element };
    });
    case 'blur': {
      if (document.activeElement) document.activeElement.blur();
      return {};
    }
    case 'select': return require((element) => {
      if (element.tagName !== 'SELECT') return { reason: 'no select' };
      const wanted = fold(request.option);
      const options = [...element.options].filter((o) => !o.disabled);
      const fits = options.filter((o) => o.value === request.option);
      const chosen = fits.length ? fits : options.filter((o) => fold(o.text) === wanted);
      if (chosen.length !== 1) return { reason: 'option', options: options.length, fits: chosen.length };
      element.focus();
      chosen[0].selected = true;
      element.dispatchEvent(new Event('input', { bubbles: true }));
      element.dispatchEvent(new Event('change', { bubbles: true }));
      return { option: { value: chosen[0].value, text: chosen[0].text } };
    });
    case 'options': {
      const found = request.find.flatMap((locator) => { try { return all(locator, document); } catch { return []; } });
      const fits = found.filter((e) => fold(text(e)) === fold(request.option));
      return { count: found.length, fits: fits.length, ...(fits.length === 1 ? point(fits[0]) : {}) };
    }
    case 'count': return { count: [...document.querySelectorAll(request.item)].filter(shown).length };
    case 'read': {
      const found = locate(request.find);
      return found.element ? { text: text(found.element), index: found.index } : { missing: true, counts: found.counts };
    }
    case 'text': return { text: document.body ? document.body.innerText : '' };
    case 'size': return { width: document.documentElement.scrollWidth, height: document.documentElement.scrollHeight };
  }
  return null;
}
