// A client of bravo reaches that site alone behind the edge of alpha: by its host, with a certificate and a token of bravo.
import { toolsPath } from '../../daemon/kernel/api/mcp-tools.ts'
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import type { ApiObject } from '../client/client.ts'
import { connectServiceClient } from '../client/connection.ts'
import { mintDemoToken } from './demo-site.ts'
import { GatewayCaller } from './gateway-caller.ts'
import { demo_lens } from './gateway-sites.ts'
import { demoTools, type GatewayStage } from './gateway-stage.ts'

/** `run_id`: of the run at bravo. */
export async function callByHost({ sites, list, signal }: GatewayStage, run_id: string): Promise<void> {
  const { bravo, by_host } = sites
  const { url, ca } = by_host
  const token = await mintDemoToken(bravo.folder, 'bea', ['analyst'])
  const caller = await GatewayCaller.connect({ url: new URL(toolsPath, url), ca }, token, signal)
  try {
    const names = await caller.listNames()
    const services = new Set(names.filter((name) => name.includes('__')).map((name) => name.split('__')[0]))
    const { content, failure } = await caller.call(demoTools.summary, { run_id })
    const [first] = String(content.text).split('\n')
    const isBravoAlone = [...services].join() === 'resolution-service'
    list.add('tools_by_host', isBravoAlone && failure === undefined, failure ?? `${[...services].join()}: ${first}`)
  } finally {
    await caller.stop()
  }
  const client = connectServiceClient({ folder: undefined, url, ca, token, env: {} })
  const { items } = await client.call('resolution.lens.list', { limit: 10 })
  const lenses = (items as ApiObject[]).map(({ lens }) => lens)
  list.add('rest_by_host', lenses.includes(demo_lens), `/api/v2/lens at ${url.origin} has ${lenses.join()}`)
  const other = await client.call('intelligence.signal.list', { limit: 1 }).then(() => 'answered', describeRefusal)
  list.add('hosts_apart', other.startsWith('no_backend'), `/api/v1/signal of alpha at ${url.origin}: ${other}`)
}

function describeRefusal(error: unknown): string {
  if (!isRefusal(error)) throw error
  return `${error.code}: ${error.message}`
}
