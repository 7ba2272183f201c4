// The script of a report: one pair at a time, decisions about pairs and clusters, and a file of them. Without it, all is listed.

/** Reads the records from the page. It neither builds mark-up from data nor reaches the network. */
export const pageScript = `
'use strict'
const data = JSON.parse(document.getElementById('page-data').textContent)
const viewer = document.getElementById('viewer')
const bar = document.querySelector('.savebar')
const decisions = new Map()
const rulings = new Map()
const texts = { confirm: 'confirmed', reject: 'rejected', defer: 'deferred' }
let unsaved = false
const count = () => {
  const all = decisions.size + rulings.size
  document.getElementById('decided').textContent = all === 1 ? '1 decision' : all + ' decisions'
  bar.hidden = all === 0
  unsaved = all > 0
}
const listRuling = ([cluster, { isConfirmed, split }]) => {
  const records = data.clusters[cluster]
  const rest = [...records.keys()].filter((at) => !split.has(at))
  const lines = [...split].flatMap((one) => [...records.keys()].filter((at) => at !== one && (at < one || !split.has(at))).map((at) => records[one] + ',' + records[at] + ',reject'))
  return isConfirmed ? [...lines, ...rest.slice(1).map((at) => records[rest[0]] + ',' + records[at] + ',confirm')] : lines
}
const store = () => {
  const own = [...decisions].map(([pair, decision]) => data.pairs[pair] + ',' + decision)
  const text = ['source_l,id_l,source_r,id_r,decision', ...data.kept, ...own, ...[...rulings].flatMap(listRuling), ''].join('\\n')
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  link.download = 'decisions.csv'
  link.click()
  URL.revokeObjectURL(link.href)
  unsaved = false
}
for (const cluster of document.querySelectorAll('.cluster')) {
  const chosen = cluster.querySelector('.chosen')
  const nodes = [...cluster.querySelectorAll('.node')]
  const show = (event) => {
    const node = event.target.closest('.node')
    if (node) chosen.textContent = node.querySelector('title').textContent
  }
  cluster.addEventListener('focusin', show)
  cluster.addEventListener('pointerover', show)
  const name = cluster.dataset.cluster
  const ruling = { isConfirmed: false, split: new Set() }
  for (const part of cluster.querySelectorAll('.buttons, [data-act]')) part.hidden = false
  cluster.addEventListener('click', (event) => {
    const button = event.target.closest('[data-act]')
    if (!button) return
    const record = Number(button.dataset.record)
    if (button.dataset.act === 'confirm') ruling.isConfirmed = !ruling.isConfirmed
    else if (!ruling.split.delete(record)) ruling.split.add(record)
    button.setAttribute('aria-pressed', String(button.dataset.act === 'confirm' ? ruling.isConfirmed : ruling.split.has(record)))
    for (const [at, node] of nodes.entries()) node.classList.toggle('split', ruling.split.has(at))
    const parts = [ruling.split.size ? ruling.split.size + ' split off' : '', ruling.isConfirmed ? (ruling.split.size ? 'the rest confirmed' : 'confirmed') : '']
    cluster.querySelector('.ruling').textContent = parts.filter(Boolean).join(', ')
    if (ruling.isConfirmed || ruling.split.size) rulings.set(name, ruling)
    else rulings.delete(name)
    count()
  })
}
if (viewer) {
  const pairs = [...viewer.querySelectorAll('.pair')]
  const buttons = [...viewer.querySelectorAll('[data-decision]')]
  let current = 0
  const show = (at) => {
    current = Math.max(0, Math.min(pairs.length - 1, at))
    for (const [number, pair] of pairs.entries()) pair.hidden = number !== current
    document.getElementById('position').textContent = current + 1 + ' of ' + pairs.length
    for (const button of buttons) button.setAttribute('aria-pressed', String(decisions.get(current) === button.dataset.decision))
  }
  const decide = (decision) => {
    decisions.set(current, decision)
    pairs[current].querySelector('.ruling').textContent = texts[decision]
    count()
    show(current + 1)
  }
  const keys = { c: () => decide('confirm'), r: () => decide('reject'), d: () => decide('defer'), ArrowLeft: () => show(current - 1), ArrowRight: () => show(current + 1), s: () => bar.hidden || store() }
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
  show(0)
}
document.getElementById('save').addEventListener('click', store)
window.addEventListener('beforeunload', (event) => {
  if (unsaved) event.preventDefault()
})
`
