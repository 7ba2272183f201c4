// Section of clusters: each as a graph of its records, with their values in a table.
import { formatWhole, round } from '../../../shared/report/format-figures.ts'
import { abridge, html, type Markup } from '../../../shared/report/markup.ts'
import { renderScroll } from '../../../shared/report/parts.ts'
import { layOutCluster } from '../engine/cluster/cluster-layout.ts'
import { canDecide } from './decision-lines.ts'
import { renderValue } from './elements.ts'
import type { ReportCluster, ReportFacts } from './report-facts.ts'

const [width, margin] = [360, 34] as const
/** Height of a graph by its number of records: a pair needs a line alone. */
const chooseHeight = (nodes: number) => (nodes <= 2 ? 84 : nodes <= 4 ? 170 : 260)
const max_label_characters = 14
const label_room = 56
/** Labels of more records would cover each other. */
const max_labelled_nodes = 16
const max_value_characters = 48
const max_title_characters = 200

const doubtTexts = {
  large: 'very large',
  sparse: 'most pairs without evidence',
  chained: 'two parts held by one pair',
} as const

export function renderClusters(
  heading: string,
  clusters: readonly ReportCluster[],
  fields: ReportFacts['fields'],
): Markup {
  if (clusters.length === 0) return html`<h3>${heading}</h3><p>None.</p>`
  return html`<h3>${heading}</h3><div class="clusters">${clusters.map((cluster) => renderCluster(cluster, fields))}</div>`
}

function renderCluster(cluster: ReportCluster, fields: ReportFacts['fields']): Markup {
  const { number, size, doubts, nodes, edges } = cluster
  const omitted = size > nodes.length ? `; the first ${nodes.length} are shown` : ''
  const doubt =
    doubts.length > 0 ? html`<p class="doubts">${doubts.map((each) => doubtTexts[each]).join(', ')}</p>` : ''
  const height = chooseHeight(nodes.length)
  const places = layOutCluster(nodes.length, edges).map(({ x, y }) => ({
    x: round(margin + x * (width - 2 * margin)),
    y: round(margin + y * (height - 2 * margin)),
  }))
  const lines = edges.map(({ from, to, height: above }) => {
    const [one, other] = [places[from], places[to]]
    if (!one || !other) return ''
    const strength = above <= 0 ? 'weak' : above > 6 ? 'strong' : 'fair'
    return html`<path class="edge ${strength}" d="M${one.x} ${one.y}L${other.x} ${other.y}"/>`
  })
  const circles = nodes.map((node, at) => {
    const { x = 0, y = 0 } = places[at] ?? {}
    const facts = node.values.flatMap((value, field) =>
      value === undefined ? [] : [`${fields[field]?.name}: ${abridge(value, max_value_characters)}`],
    )
    const title = abridge([nameNode(node), ...facts].join('; '), max_title_characters)
    const label =
      nodes.length > max_labelled_nodes
        ? ''
        : html`<text x="${x}" y="${round(y - 9)}" text-anchor="${chooseAnchor(x)}">${abridgeLabel(node.id)}</text>`
    return html`<g class="node" tabindex="0" role="img"><title>${title}</title><circle cx="${x}" cy="${y}" r="5"/>${label}</g>`
  })
  return html`<figure class="cluster" data-cluster="${number}"><figcaption><strong>Cluster ${number}</strong>, ${formatWhole(size)} records${omitted}</figcaption>${doubt}<svg viewBox="0 0 ${width} ${height}" role="group" aria-label="Graph of cluster ${number}: ${nodes.length} records and ${edges.length} compared pairs">${lines}${circles}</svg><p class="chosen" aria-live="polite"></p>${renderControls(cluster)}${renderMembers(cluster, fields)}</figure>`
}

function nameNode({ source, id }: { readonly source: string; readonly id: string }): string {
  return abridge(`${source} ${id}`, max_value_characters)
}

/** Labels near a border begin or end at their record. */
function chooseAnchor(x: number): 'start' | 'middle' | 'end' {
  if (x < label_room) return 'start'
  return x > width - label_room ? 'end' : 'middle'
}

function abridgeLabel(id: string): string {
  const letters = [...id]
  return letters.length <= max_label_characters ? id : `…${letters.slice(1 - max_label_characters).join('')}`
}

/** Hidden until the script works. */
function renderControls(cluster: ReportCluster): Markup {
  if (!canDecide(cluster)) return html``
  return html`<div class="buttons" hidden><button type="button" data-act="confirm">Confirm cluster</button><span class="ruling" aria-live="polite"></span></div>`
}

function renderMembers(cluster: ReportCluster, fields: ReportFacts['fields']): Markup {
  const { nodes } = cluster
  const isOpen = canDecide(cluster)
  const head = ['record', ...fields.map(({ name }) => name)].map((name) => html`<th scope="col">${name}</th>`)
  const rows = nodes.map(({ source, id, values }, at) => {
    const cells = values.map(
      (value) => html`<td>${renderValue(value === undefined ? undefined : abridge(value, max_value_characters))}</td>`,
    )
    return html`<tr><th scope="row">${nameNode({ source, id })}</th>${cells}${isOpen ? html`<td><button type="button" data-act="split" data-record="${at}" hidden>Split off</button></td>` : ''}</tr>`
  })
  return html`<details><summary>Records</summary>${renderScroll(`Records of cluster ${cluster.number}`, html`<table class="members"><thead><tr>${head}${isOpen ? html`<th scope="col"><span class="visually-hidden">decide</span></th>` : ''}</tr></thead><tbody>${rows}</tbody></table>`)}</details>`
}
