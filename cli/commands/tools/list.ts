// Lists the tools that a service offers to the holder of the token, and follows changes of the list.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { followTools } from '../../../daemon/kernel/tools/follow-tools.ts'
import type { RemoteTool } from '../../../daemon/kernel/tools/tool-service.ts'
import { offline } from '../../../daemon/offline/offline.ts'
import { resolveToolService, toolServiceOptions, withToolService } from '../../options/tool-service-options.ts'
import { command } from '../../program/command.ts'
import { flag } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'
import type { Terminal } from '../../terminal/terminal.ts'

const columns = ['name', 'effect', 'description']

export const definition = command({
  words: 'tools list',
  summary: 'List the tools that a service offers to the holder of the token',
  notes: [
    'A role offers tools where its `mcp_enabled` permits it; exit code 1: it offers none. The list holds the tools',
    'that the token may call.',
  ].join('\n'),
  options: {
    ...toolServiceOptions,
    follow: flag('Print the list again at each change, until interrupted'),
  },
  example: 'platform tools list --role consensus',
  async run(params, terminal) {
    if (params.follow) return await followList(params, terminal)
    await withToolService(params, terminal, async (connection) => {
      const tools = await connection.listTools()
      const { revision, service } = connection
      printResult(terminal, params.json, { service, revision, tools }, () => formatTools(terminal, tools))
    })
    return 0
  },
})

/** Runs until an interrupt. */
async function followList(
  params: Parameters<typeof resolveToolService>[0] & { readonly json: boolean },
  terminal: Terminal,
): Promise<0> {
  const address = await resolveToolService(params, terminal)
  const { openToolServices } = await offline.toolServices()
  const ending = new AbortController()
  process.once('SIGINT', () => ending.abort())
  const listings = followTools(openToolServices(), address, {
    signal: ending.signal,
    wait: (wait_ms, signal) => sleep(wait_ms, undefined, { signal }).catch(() => undefined),
    monotonic: () => performance.now(),
    random: (bytes) => randomBytes(bytes).toString('hex'),
  })
  for await (const listing of listings) {
    if ('trouble' in listing) terminal.note(`The list cannot be read: ${listing.trouble.message}. Trying again.`)
    else printResult(terminal, params.json, listing, () => formatTools(terminal, listing.tools))
  }
  return 0
}

function formatTools(terminal: Terminal, tools: readonly RemoteTool[]): string {
  const rows = tools.map(({ name, title, description, annotations }) => ({
    name,
    effect: describeEffect(annotations),
    description: description ?? title,
  }))
  return formatTable(terminal, rows, columns, 'The service offers no tools to the holder of this token')
}

/** By the hints of the service, and as the protocol reads absent ones. */
function describeEffect(hints: RemoteTool['annotations'] = {}): string {
  if (hints.readOnlyHint === true) return 'reads'
  return hints.destructiveHint === false ? 'adds' : 'changes'
}
