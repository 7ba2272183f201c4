// The script of a report: one pair at a time, decisions by keyboard, and a file of decisions. Without it, all pairs are listed.

/** Reads the keys of the pairs from the page. It neither builds mark-up from data nor reaches the network. */
export const pageScript = `
'use strict'
const cells = JSON.parse(document.getElementById('pair-keys').textContent)
const viewer = document.getElementById('viewer')
const decisions = new Map()
let current = 0
let unsaved = false
for (const cluster of document.querySelectorAll('.cluster')) {
  const chosen = cluster.querySelector('.chosen')
  const show = (event) => {
    const node = event.target.closest('.node')
    if (node) chosen.textContent = node.querySelector('title').textContent
  }
  cluster.addEventListener('focusin', show)
  cluster.addEventListener('pointerover', show)
}
if (viewer) {
  const pairs = [...viewer.querySelectorAll('.pair')]
  const buttons = [...viewer.querySelectorAll('[data-decision]')]
  const save = document.getElementById('save')
  const show = (at) => {
    current = Math.max(0, Math.min(pairs.length - 1, at))
    for (const [number, pair] of pairs.entries()) pair.hidden = number !== current
    document.getElementById('position').textContent = current + 1 + ' of ' + pairs.length
    for (const button of buttons) button.setAttribute('aria-pressed', String(decisions.get(current) === button.dataset.decision))
  }
  const decide = (decision) => {
    decisions.set(current, decision)
    unsaved = true
    pairs[current].querySelector('.ruling').textContent = { confirm: 'confirmed', reject: 'rejected', defer: 'deferred' }[decision]
    document.getElementById('decided').textContent = decisions.size === 1 ? '1 decision' : decisions.size + ' decisions'
    save.disabled = false
    show(current + 1)
  }
  const store = () => {
    const lines = [...decisions].map(([pair, decision]) => cells[pair] + ',' + decision)
    const text = ['source_l,id_l,source_r,id_r,decision', ...lines, ''].join('\\n')
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
    link.download = 'decisions.csv'
    link.click()
    URL.revokeObjectURL(link.href)
    unsaved = false
  }
  const keys = { c: () => decide('confirm'), r: () => decide('reject'), d: () => decide('defer'), ArrowLeft: () => show(current - 1), ArrowRight: () => show(current + 1), s: () => save.disabled || store() }
  viewer.querySelector('.controls').hidden = false
  viewer.tabIndex = 0
  viewer.addEventListener('keydown', (event) => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key]
    if (!act) return
    event.preventDefault()
    act()
  })
  for (const button of viewer.querySelectorAll('[data-move]')) button.addEventListener('click', () => show(current + Number(button.dataset.move)))
  for (const button of buttons) button.addEventListener('click', () => decide(button.dataset.decision))
  save.addEventListener('click', store)
  window.addEventListener('beforeunload', (event) => {
    if (unsaved) event.preventDefault()
  })
  show(0)
}
`
