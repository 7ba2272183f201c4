// Links to other sites: their state, the freshness of what arrives, traffic, and what waits.
import { type BarRow, renderBarChart } from '../../../shared/report/chart/bar-chart.ts'
import { renderStarChart, type StarPeer } from '../../../shared/report/chart/star-chart.ts'
import {
  chooseSpanUnit,
  formatSize,
  formatSpan,
  formatTime,
  formatWhole,
} from '../../../shared/report/format-figures.ts'
import { html, type Markup } from '../../../shared/report/markup.ts'
import type { ReportSection } from '../../../shared/report/page.ts'
import { type ReportTone, renderState, renderTable } from '../../../shared/report/parts.ts'
import type { ReportedChannel, SiteReport } from './site-report.ts'

/** Whether an open channel needs a person. */
export function isAttentive({ stale, gaps, quarantined, set_aside, detail }: ReportedChannel): boolean {
  return stale || gaps > 0 || quarantined > 0 || set_aside.length > 0 || detail !== ''
}

export function listFederationSections({ source, channels, peers, nodes }: SiteReport): ReportSection[] {
  const sections: ReportSection[] = []
  if (channels && (channels.length > 0 || peers?.length))
    sections.push(
      { id: 'links', heading: 'Federation', content: renderLinks(source, channels, peers ?? []) },
      { id: 'freshness', heading: 'Freshness', content: renderFreshness(channels) },
      { id: 'traffic', heading: 'Traffic', content: renderTraffic(channels) },
      { id: 'channels', heading: 'Channels', content: renderChannels(channels) },
    )
  if (nodes) sections.push({ id: 'nodes', heading: 'Coalition', content: renderNodes(nodes) })
  return sections
}

type ReportedPeers = NonNullable<SiteReport['peers']>

function toneOf(channel: ReportedChannel): ReportTone {
  if (channel.state !== 'open') return 'poor'
  return isAttentive(channel) ? 'fair' : 'good'
}

const nameState = ({ state, stale }: ReportedChannel) => (stale && state === 'open' ? 'stale' : state)

function renderLinks(source: string, channels: readonly ReportedChannel[], peers: ReportedPeers): Markup {
  const names = new Set([...channels.map(({ peer }) => peer), ...peers.map(({ name }) => name)])
  const spokes = [...names].sort().map((name): StarPeer => {
    const find = (direction: 'out' | 'in') =>
      channels.find((each) => each.peer === name && each.direction === direction)
    const [out, into] = [find('out'), find('in')]
    const text =
      out || into ? `out ${out ? nameState(out) : 'none'}, in ${into ? nameState(into) : 'none'}` : 'no channel'
    return { name, out: out && toneOf(out), in: into && toneOf(into), text }
  })
  const table = renderTable({
    caption: 'ReportedPeers that are pinned here',
    columns: ['peer', 'tenant', 'ceiling', { heading: 'keys', kind: 'number' }, 'enrolled (UTC)'],
    rows: peers
      .slice(0, max_rows)
      .map(({ name, tenant_id, ceiling, keys, enrolled }) => [
        ...[name, tenant_id, [ceiling.policy, ceiling.level, ...ceiling.categories].join(' ')],
        ...[keys.filter(({ status }) => status === 'active').length, formatTime(enrolled)],
      ]),
    total: peers.length,
  })
  return html`${renderStarChart(source, spokes)}${table}`
}

const max_rows = 300
const nameChannel = ({ peer, direction }: ReportedChannel) => `${peer} ${direction}`

function renderFreshness(channels: readonly ReportedChannel[]): Markup {
  const incoming = channels.filter(({ direction }) => direction === 'in')
  const heard = incoming.filter(({ inventory_age_s }) => inventory_age_s !== undefined)
  const silent = incoming.length - heard.length
  const rows = heard
    .toSorted((a, b) => (b.inventory_age_s ?? 0) - (a.inventory_age_s ?? 0))
    .map((channel): BarRow => {
      const age = channel.inventory_age_s ?? 0
      return {
        name: channel.peer,
        parts: [{ tone: channel.stale || channel.state !== 'open' ? 'c2' : 'c1', value: age }],
        text: `${formatSpan(age)}${channel.state === 'open' ? (channel.stale ? ', stale' : '') : `, ${channel.state}`}`,
      }
    })
  const ages = renderBarChart({
    title: 'Age of the last inventory of each peer',
    description:
      'A peer lists at intervals what it has sent, so that nothing can be missing unseen. Orange: nothing has arrived for three intervals, or the channel is not open.',
    measure: 'age',
    formatTick: formatSpan,
    tick_unit: chooseSpanUnit(heard.reduce((most, { inventory_age_s = 0 }) => Math.max(most, inventory_age_s), 0)),
    rows,
    rowHeading: 'peer',
  })
  const waiting = channels
    .filter(({ oldest_waiting_s = 0 }) => oldest_waiting_s > 0)
    .toSorted((a, b) => (b.oldest_waiting_s ?? 0) - (a.oldest_waiting_s ?? 0))
  const oldest = renderBarChart({
    title: 'Age of the oldest message that waits',
    description: 'Out: no carrier has taken it. In: it has not been taken in.',
    measure: 'age',
    formatTick: formatSpan,
    tick_unit: chooseSpanUnit(waiting[0]?.oldest_waiting_s ?? 0),
    rows: waiting.map((channel) => ({
      name: nameChannel(channel),
      parts: [{ tone: 'c3', value: channel.oldest_waiting_s ?? 0 }],
      text: `${formatSpan(channel.oldest_waiting_s ?? 0)}, ${formatWhole(channel.backlog)} wait`,
    })),
    rowHeading: 'channel',
  })
  const note =
    silent > 0
      ? html`<p>${silent} ${silent === 1 ? 'peer has' : 'peers have'} not sent an inventory yet.</p>`
      : undefined
  return html`${ages}${note}${waiting.length > 0 ? oldest : html`<p>No message waits.</p>`}`
}

const totalOf = ({ direction, sent, received }: ReportedChannel) => (direction === 'out' ? sent : received)

function renderTraffic(channels: readonly ReportedChannel[]): Markup {
  const total = renderBarChart({
    title: 'Messages of each channel',
    description: 'Sent or received since the channel began; repeated deliveries are dropped.',
    measure: 'messages',
    formatTick: formatWhole,
    legend: [
      { name: 'sent', tone: 'c1' },
      { name: 'received', tone: 'c3' },
      { name: 'repeated', tone: 'c2' },
    ],
    rows: channels
      .toSorted((a, b) => totalOf(b) - totalOf(a))
      .map((channel) => ({
        name: nameChannel(channel),
        parts: [
          { tone: channel.direction === 'out' ? 'c1' : 'c3', value: totalOf(channel) },
          { tone: 'c2', value: channel.duplicates },
        ],
        text: `${formatWhole(totalOf(channel))}${channel.duplicates > 0 ? ` + ${formatWhole(channel.duplicates)}` : ''}`,
      })),
    rowHeading: 'channel',
  })
  const rate = renderBarChart({
    title: 'Rate of each channel',
    description: 'Messages that were made ready for the carrier, or applied, over the last five minutes.',
    measure: 'messages per minute',
    rows: channels
      .filter(({ messages_per_minute }) => messages_per_minute > 0)
      .toSorted((a, b) => b.messages_per_minute - a.messages_per_minute)
      .map((channel) => ({
        name: nameChannel(channel),
        parts: [{ tone: 'c1', value: channel.messages_per_minute }],
        text: `${Number(channel.messages_per_minute.toFixed(1))} per min`,
      })),
    rowHeading: 'channel',
  })
  return html`${total}${rate}`
}

function renderChannels(channels: readonly ReportedChannel[]): Markup {
  const numbers = ['epoch', 'next', 'highest', 'gaps', 'backlog', 'held'].map((heading) => ({
    ...{ heading, kind: 'number' as const },
  }))
  return renderTable({
    caption: 'Channels',
    columns: ['channel', 'state', 'carrier', ...numbers, 'quarantine', 'last inventory (UTC)', 'detail'],
    rows: channels
      .slice(0, max_rows)
      .map((channel) => [
        ...[nameChannel(channel), renderState(toneOf(channel), nameState(channel)), channel.transport],
        ...[channel.epoch, channel.next_seq, channel.highest_seq].map(formatWhole),
        `${channel.gaps}${channel.direction === 'in' && channel.is_inventory_pending ? '+' : ''}`,
        ...[channel.backlog, channel.held].map(formatWhole),
        channel.quarantined === 0
          ? '–'
          : `${formatWhole(channel.quarantined)} (${formatSize(channel.quarantined_bytes)})`,
        channel.inventory_at === undefined ? '–' : formatTime(channel.inventory_at),
        [
          channel.detail,
          ...channel.set_aside.map(({ role, kind, messages }) => `${messages} of kind ${kind} wait for role ${role}`),
        ]
          .filter((part) => part !== '')
          .join('; '),
      ]),
    total: channels.length,
    empty: 'No peer has a channel.',
  })
}

function renderNodes(nodes: NonNullable<SiteReport['nodes']>): Markup {
  return renderTable({
    caption: 'Nodes of the coalition that this site’s hub serves',
    columns: ['node', 'state', 'site', 'last contact (UTC)', 'description'],
    rows: nodes
      .slice(0, max_rows)
      .map(({ id, state, site, heard_at, description }) => [
        ...[id, renderState(state === 'present' ? 'good' : 'poor', state), site, formatTime(heard_at), description],
      ]),
    total: nodes.length,
    empty: 'No node has registered.',
  })
}
