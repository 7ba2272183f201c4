// A real hub in this process, with enrolled nodes and their clients, and ways to look at what it holds.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { mailboxes } from '../../../daemon/roles/hub/message/model.ts'
import { nodes } from '../../../daemon/roles/hub/node/model.ts'
import { type SingleClusterSite, startSingleClusterSite } from '../../support/site/single-cluster-site.ts'

export type HubEndpoint = {
  readonly hub_url: string
  readonly token_url: string
  readonly client_id: string
  readonly secret_file: string
}

export type TestHub = {
  readonly site: SingleClusterSite
  /** How a carrier that is this node reaches it. */
  endpoint(node: string): HubEndpoint
  /** Messages that wait for anybody. */
  countWaiting(): Promise<number>
  isRegistered(node: string): Promise<boolean>
  close(): Promise<void>
}

const nodeNames = ['alpha', 'bravo', 'mallory']

export async function startTestHub(settings: Readonly<Record<string, unknown>> = {}): Promise<TestHub> {
  const dir = mkdtempSync(path.join(tmpdir(), 'node-'))
  const secret_file = path.join(dir, 'node.secret')
  writeFileSync(secret_file, 'a-secret-of-more-than-sixteen-characters\n', { mode: 0o600 })
  const client = (name: string) => ({ client_id: name, secret_file, subject: `node:${name}`, roles: ['node'] })
  const site = await startSingleClusterSite({
    platform: { roles: ['site', 'hub'] },
    hub: {
      port: 0,
      nodes: Object.fromEntries(nodeNames.map((name) => [name, { subject: `node:${name}` }])),
      ...settings,
    },
    identity: { clients: nodeNames.map(client) },
  })
  const store = () => {
    const role = site.running.services.find((service) => service.role.name === 'hub')
    if (!role) throw new Error('the hub does not run')
    return role.context.store
  }
  return {
    site,
    endpoint: (node) => ({
      hub_url: `http://127.0.0.1:${site.port('hub')}`,
      token_url: `http://127.0.0.1:${site.port('site')}/oauth2/token`,
      client_id: node,
      secret_file,
    }),
    countWaiting: () => store().count(mailboxes),
    isRegistered: async (node) => (await store().get(nodes, node)) !== undefined,
    async close() {
      await site.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
