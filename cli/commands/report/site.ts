// Writes the report of a site, its federation and its health, as one page of HTML.
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import { offline, type SiteFolder } from '../../../daemon/offline/offline.ts'
import type { ApiObject, ServiceClient } from '../../client/client.ts'
import { fetchItems } from '../../client/fetch-items.ts'
import { identifyRole } from '../../client/identify-role.ts'
import { fetchRoleStatus } from '../../client/role-status.ts'
import { describeSource, reportOption } from '../../options/report-option.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { requireWholeSite } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { printResult } from '../../terminal/output.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export const definition = command({
  words: 'report site',
  summary: 'Write the report of federation and health as one HTML page',
  notes: [
    'The page has the roles with their dependencies, the links to the peers, freshness and traffic of each channel, what',
    'ends soon, sessions by state, and the findings of `platform doctor`. It needs no network and no script. What',
    'cannot be read is named there. With --url: of the one role that answers there.',
  ].join('\n'),
  options: { ...reportOption, ...serviceOptions },
  example: 'platform report site --out alpha.html',
  async run(params, terminal) {
    const [{ writeSiteReport }, { requireReportFile }] = await Promise.all([offline.siteReport(), offline.reportFile()])
    requireReportFile(params.out)
    const folder = params.url === undefined ? await requireWholeSite(params, terminal, [params.out]) : undefined
    const local = folder && (await examineLocally(folder, terminal))
    const api = await connectService(params, terminal)
    const names = local?.roles ?? [await identifyRole(api.call)]
    const roles = await Promise.all(names.map(async (role) => ({ role, ...(await fetchRoleStatus(api, role)) })))
    const running = roles.filter(({ state }) => !state.startsWith('not ')).map(({ role }) => role)
    const answers = await fetchParts(api, running)
    const source = await describeSource(params, terminal)
    const { roles: _names, ...examined } = local ?? {}
    const report = { at: new Date().toISOString(), source, roles, ...examined, ...answers }
    const written = writeSiteReport(params.out, report)
    printResult(terminal, params.json, written, () => written.file)
    return 0
  },
})

/** Before the roles are called: the doctor may take a second. */
async function examineLocally(folder: SiteFolder, terminal: Terminal) {
  const { examineSiteFiles } = await offline.siteExamination()
  const examined = await examineSiteFiles(folder, terminal.env, (text) => terminal.progress(text))
  terminal.progress('')
  return examined
}

const max_nodes = 500
const sessionStates = ['PROPOSED', 'PENDING_QUORUM', 'IN_CONFLICT', 'RATIFIED', 'WITHDRAWN'] as const

/** Each part of a running role; one that cannot be read is named among `faults`. */
async function fetchParts(api: ServiceClient, running: readonly string[]): Promise<ApiObject> {
  const listOf = async (address: string) => (await api.call(address, {})).items
  const readers: readonly (readonly [part: string, role: string, () => Promise<unknown>])[] = [
    ['channels', 'site', () => listOf('site.channel.list')],
    ['peers', 'site', () => listOf('site.peer.list')],
    ['keys', 'site', () => listOf('site.key.list')],
    ['nodes', 'hub', async () => (await fetchItems(api, 'hub.node.list', {}, { limit: max_nodes })).items],
    ['sessions', 'consensus', () => countSessions(api)],
  ]
  const faults: string[] = []
  const parts: Record<string, unknown> = {}
  for (const [part, role, read] of readers) {
    if (!running.includes(role)) continue
    try {
      parts[part] = await read()
    } catch (error) {
      if (!isRefusal(error)) throw error
      faults.push(`${part} could not be read: ${error.message}`)
    }
  }
  return { ...parts, faults }
}

async function countSessions(api: ServiceClient) {
  return await Promise.all(
    sessionStates.map(async (state) => {
      const { total } = await api.call('consensus.session.list', { state, limit: 1 })
      return { state, count: total }
    }),
  )
}
