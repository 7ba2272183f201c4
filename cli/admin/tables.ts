// Tables of the panes: columns, widths, and cells with a tone.
import type { ApiObject } from '../client/client.ts'
import {
  formatFigure,
  formatInstant,
  formatPending,
  formatStateCell,
  formatText,
  type PaneCell,
  type PaneColumn,
  type PaneColumnSource,
  plainCell,
  selectTone,
  troubleCell,
} from './cells.ts'
import { gatewayColumns } from './gateway-columns.ts'
import type { PaneName } from './view.ts'

export type PaneTable = {
  readonly columns: readonly PaneColumn[]
  readonly rows: readonly { readonly key: string; readonly cells: readonly PaneCell[] }[]
}

/** Smallest useful width of a growing column. */
const min_growing_chars = 8

/** Builds the table of a pane for a terminal with `columns`. An absent value is a dash. */
export function buildPaneTable(pane: PaneName, items: readonly ApiObject[], columns: number): PaneTable {
  const visible = selectFittingColumns(
    paneColumns[pane].filter(({ minColumns = 0 }) => columns >= minColumns),
    columns,
  )
  return {
    columns: visible.map(({ cell: _cell, ...column }) => column),
    rows: items.map((item) => ({ key: buildRowKey(pane, item), cells: visible.map(({ cell }) => cell(item)) })),
  }
}

/** Drops columns from the right, which matter least, until the others fit. */
function selectFittingColumns(candidates: readonly PaneColumnSource[], columns: number): readonly PaneColumnSource[] {
  const needed_chars = candidates.reduce(
    (sum, { width, grows }) => sum + 2 + (grows ? Math.min(width, min_growing_chars) : width),
    0,
  )
  return needed_chars <= columns || candidates.length === 1
    ? candidates
    : selectFittingColumns(candidates.slice(0, -1), columns)
}

const rowKeys: Readonly<Record<PaneName, (item: ApiObject) => string>> = {
  roles: ({ name }) => String(name),
  sessions: ({ id }) => String(id),
  pipelines: ({ uid }) => String(uid),
  channels: ({ transport, peer, direction }) => `${transport} ${peer} ${direction}`,
  denials: ({ reason, method, path }) => `${reason} ${method} ${path}`,
  guidance: ({ kind, name }) => `${kind} ${name}`,
  services: ({ name }) => String(name),
  tools: ({ offered_as }) => String(offered_as),
  quotas: ({ subject, kind, target }) => `${subject} ${kind} ${target}`,
  decisions: ({ seq }) => String(seq),
}

/** Stable key of a row within its pane. */
export function buildRowKey(pane: PaneName, item: ApiObject): string {
  return rowKeys[pane](item)
}

const paneColumns: Readonly<Record<PaneName, readonly PaneColumnSource[]>> = {
  roles: [
    { heading: 'ROLE', width: 12, cell: plainCell('name') },
    {
      heading: 'STATE',
      width: 11,
      cell: ({ state }) => ({ text: formatText(state), tone: selectTone(String(state)) }),
    },
    { heading: 'NEEDS', width: 20, grows: true, cell: formatDependencies },
    { heading: 'URL', width: 24, cell: plainCell('url', 'faint') },
    { heading: 'VERSION', width: 8, minColumns: 100, cell: plainCell('version', 'faint') },
  ],
  sessions: [
    { heading: 'SESSION', width: 18, cell: plainCell('id') },
    {
      heading: 'STATE',
      width: 14,
      cell: ({ state }) => ({ text: formatText(state), tone: selectTone(String(state)) }),
    },
    { heading: 'OUTCOME', width: 14, cell: ({ decision, reason }) => ({ text: formatText(decision ?? reason) }) },
    { heading: 'SCORE', width: 6, minColumns: 90, cell: (session) => ({ text: formatScore(session) ?? '-' }) },
    { heading: 'HEARD', width: 7, cell: (session) => ({ text: formatContributors(session) }) },
    { heading: 'DUE', width: 4, cell: ({ undelivered }) => formatPending(undelivered) },
    { heading: 'LENS', width: 12, grows: true, cell: plainCell('lens_id', 'faint') },
    { heading: 'CREATED', width: 19, minColumns: 110, cell: ({ created_at }) => ({ text: formatInstant(created_at) }) },
  ],
  pipelines: [
    { heading: 'PIPELINE', width: 14, grows: true, cell: plainCell('dag_id') },
    { heading: 'STATE', width: 18, cell: ({ status }) => formatStateCell(status) },
    {
      heading: 'LAST RUN',
      width: 8,
      cell: ({ last_run }) => formatStateCell((last_run as ApiObject | undefined)?.state),
    },
    { heading: 'STARTED', width: 19, cell: ({ last_run }) => formatStart(last_run) },
    {
      heading: 'NEXT',
      width: 19,
      minColumns: 100,
      cell: (pipeline) => ({ text: formatInstant(pipeline.next_scheduled_run) }),
    },
    { heading: 'SCHEDULE', width: 12, minColumns: 120, cell: plainCell('schedule', 'faint') },
  ],
  channels: [
    { heading: 'PEER', width: 10, grows: true, cell: plainCell('peer') },
    { heading: 'WAY', width: 3, cell: plainCell('direction') },
    { heading: 'STATE', width: 7, cell: formatChannelState },
    { heading: 'NEXT', width: 5, cell: plainCell('next_seq') },
    { heading: 'HIGHEST', width: 7, cell: plainCell('highest_seq') },
    { heading: 'GAPS', width: 4, cell: troubleCell('gaps') },
    { heading: 'BACKLOG', width: 7, cell: ({ backlog }) => formatPending(backlog) },
    { heading: 'REFUSED', width: 7, cell: troubleCell('quarantined') },
    { heading: 'SENT', width: 5, cell: plainCell('sent') },
    { heading: 'RECVD', width: 5, cell: plainCell('received') },
    { heading: 'TRANSPORT', width: 10, minColumns: 100, cell: plainCell('transport', 'faint') },
  ],
  denials: [
    { heading: 'COUNT', width: 7, cell: plainCell('count') },
    { heading: 'REASON', width: 18, cell: plainCell('reason') },
    { heading: 'METHOD', width: 7, cell: plainCell('method') },
    { heading: 'PATH', width: 12, grows: true, cell: plainCell('path') },
    { heading: 'LAST FROM', width: 15, cell: plainCell('last_source', 'faint') },
    {
      heading: 'LAST',
      width: 19,
      minColumns: 110,
      cell: ({ last_at }) => ({ text: formatInstant(last_at), tone: 'faint' }),
    },
  ],
  ...gatewayColumns,
}

function formatStart(run: unknown): PaneCell {
  return { text: formatInstant((run as ApiObject | undefined)?.start_date), tone: 'faint' }
}

/** An open channel that receives nothing shows as stale. */
function formatChannelState({ state, stale }: ApiObject): PaneCell {
  const text = stale && state === 'open' ? 'stale' : formatText(state)
  return { text, tone: selectTone(text) }
}

/** The fault of the role, else its broken dependencies, else all of them by name. */
function formatDependencies({ fault, dependencies = [] }: ApiObject): PaneCell {
  if (fault !== undefined) return { text: formatText(fault), tone: 'bad' }
  const entries = dependencies as readonly ApiObject[]
  const broken = entries.filter(({ state }) => state !== 'ok')
  const tone = broken.some(({ state }) => state === 'down') ? 'bad' : 'warn'
  if (broken.length > 0) return { text: broken.map(({ name, detail }) => `${name}: ${detail}`).join('; '), tone }
  return entries.length > 0 ? { text: `ok: ${entries.map(({ name }) => name).join(', ')}` } : { text: '-' }
}

/** Undefined where nothing has been combined yet. */
export function formatScore({ result }: ApiObject): string | undefined {
  return formatFigure((result as ApiObject | undefined)?.score)
}

/** Contributors so far, maximum and needed, such as `2/3 m2`. */
export function formatContributors({ contributors, policy }: ApiObject): string {
  const { m, n } = (policy ?? {}) as ApiObject
  return `${contributors}/${n} m${m}`
}
