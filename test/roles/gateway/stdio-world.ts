// A site whose gateway runs tool servers as processes in the sandbox, and the people who use them.
import path from 'node:path'
import { addressRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import { mcpToolServices } from '../../../adapters/tools/mcp/connect-tools.ts'
import type { RemoteToolCall, ToolConnection } from '../../../daemon/kernel/tools/tool-service.ts'
import { get } from '../../../daemon/roles/gateway/registered-service/get.ts'
import { accept } from '../../../daemon/roles/gateway/service-tool/accept.ts'
import { list } from '../../../daemon/roles/gateway/service-tool/list.ts'
import { review } from '../../../daemon/roles/gateway/service-tool/review.ts'
import { isRunning } from '../../conformance/sandbox-requirement.ts'
import { repositoryRoot } from '../../support/repository/source-tree.ts'
import type { TestSite } from '../../support/site/test-site.ts'
import { waitUntil } from '../../support/site/test-site.ts'

const limits = { answer_ms: 60_000, answer_bytes: 16_777_216, depth: 128, tools: 2_000 }
const client = mcpToolServices({ about: { name: 'test', version: '1' }, limits, rule: addressRule(['127.0.0.0/8']) })

const modules = path.join(repositoryRoot, 'node_modules')
const script = (name: string) => path.join(repositoryRoot, 'test/support/mcp', name)

type ServerFields = Readonly<Record<string, unknown>>

/** A server of the official library, by its settings in the profile. */
export function libraryServer(args: readonly string[] = [], fields: ServerFields = {}): ServerFields {
  const file = script('stdio-tool-server.mjs')
  return { command: [process.execPath, file, ...args], visible: [modules, file], ...fields }
}

export function hostileServer(kind: string, fields: ServerFields = {}): ServerFields {
  const file = script('hostile-stdio-server.mjs')
  return { command: [process.execPath, file, kind], visible: [file], ...fields }
}

/** A published one, which serves the files of this folder. */
export function filesystemServer(folder: string): ServerFields {
  const file = path.join(modules, '@modelcontextprotocol/server-filesystem/dist/index.js')
  return { command: [process.execPath, file, folder], visible: [modules, folder] }
}

export function stdioWorld(site: Pick<TestSite, 'as' | 'token' | 'url'>) {
  const admin = () => site.as({ subject: 'pat', roles: ['admin'] })
  const connect = async (subject = 'ann', roles = ['analyst']): Promise<ToolConnection> => {
    const token = await site.token({ subject, roles })
    return await client.connect({ url: new URL('/agentspace', site.url('gateway')), token: async () => token })
  }
  const states = async (service: string) =>
    (await (await admin()).ok(list, { limit: 500, service })).items.map(({ name, state }) => `${name} ${state}`)
  return {
    admin,
    connect,
    states,
    readReview: async (name: string) => await (await admin()).ok(review, { name }),
    /** Once the server is registered; all tools, or those that are named. */
    async acceptTools(service: string, ...names: readonly string[]) {
      await waitUntil(async () => (await (await admin()).call(get, { name: service })).status === 200)
      const { tools, url, authentication } = await (await admin()).ok(review, { name: service })
      const chosen = tools.flatMap(({ name, sha256 }) =>
        sha256 !== undefined && (names.length === 0 || names.includes(name)) ? [{ name, sha256 }] : [],
      )
      await (await admin()).ok(accept, { name: service, url, authentication, tools: chosen })
      await waitUntil(async () => (await states(service)).some((state) => state.endsWith(' offered')))
    },
    async call(name: string, input: RemoteToolCall['input'] = {}, more: Partial<RemoteToolCall> = {}) {
      const connection = await connect()
      try {
        return await connection.callTool({ name, input, timeout_ms: 60_000, ...more })
      } finally {
        await connection.close()
      }
    },
    find: async (name: string) => (await (await admin()).call(get, { name })).value,
    /** Whether a process of the server exists, by a word of its command. */
    isRunning: (mark: string) => isRunning(mark),
  }
}
