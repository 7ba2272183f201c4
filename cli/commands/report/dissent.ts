// Writes the report of dissents as one page of HTML.
import { offline } from '../../../daemon/offline/offline.ts'
import type { ApiObject, ServiceClient } from '../../client/client.ts'
import { fetchAllItems, fetchItems } from '../../client/fetch-items.ts'
import { describeSource, reportOption } from '../../options/report-option.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

/** Newer ones: the page says how many there are in all. */
const max_dissents = 500

export const definition = command({
  words: 'report dissent',
  summary: 'Write the report of one dissent, or of all, as one HTML page',
  notes: [
    'One dissent: why the session is in conflict, the scores, the weight of each contributor, the conflict without',
    'each of them, and the steps of the session. Without ID: how many dissents are open, why and since when, and the',
    'open ones with the most conflict in detail. The page needs no network and no script.',
  ].join('\n'),
  positionals: { id: text('ID', 'Id of a dissent, or of a session for its last dissent (default: all)') },
  options: { ...reportOption, ...serviceOptions },
  example: 'platform report dissent ses_… --out conflict.html',
  async run(params, terminal) {
    const [{ writeDissentReport }, { requireReportFile }] = await Promise.all([
      offline.dissentReport(),
      offline.reportFile(),
    ])
    requireReportFile(params.out)
    const api = await connectService(params, terminal)
    const answers = params.id === undefined ? await fetchDissents(api) : await fetchDissent(api, params.id)
    const at = new Date().toISOString()
    const written = writeDissentReport(params.out, { at, source: await describeSource(params, terminal), ...answers })
    printResult(terminal, params.json, written, () => written.file)
    return 0
  },
})

async function fetchDissents(api: ServiceClient): Promise<ApiObject> {
  const { items, total } = await fetchItems(api, 'consensus.dissent.list', {}, { limit: max_dissents })
  return { dissents: items, total }
}

async function fetchDissent(api: ServiceClient, id: string): Promise<ApiObject> {
  const dissent = id.startsWith('ses_')
    ? await fetchLastDissent(api, id)
    : await api.call('consensus.dissent.get', { id })
  const { history, state } = await api.call('consensus.session.get', { id: dissent.session_id })
  return { dissents: [dissent], total: 1, session: { history, state } }
}

async function fetchLastDissent(api: ServiceClient, session_id: string): Promise<ApiObject> {
  const last = (await fetchAllItems(api, 'consensus.dissent.by-session', { session_id })).at(-1)
  if (!last) throw new CommandFailure(1, `the session ${session_id} has no dissent`)
  return last
}
