// A real OpenSearch of a test's own: one node, plain, or with TLS, client certificates and users.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import path from 'node:path'
import { findNewestJava } from './find-java.ts'
import type { ServerCertificateSet } from './server-certificates.ts'
import {
  chooseUnprivilegedUser,
  copyHome,
  createEngineFolder,
  findFreePorts,
  type ServerDescription,
  type ServerProcess,
  serverProcess,
} from './server-process.ts'

/** Where the distribution is unpacked; `.ci/run` fetches it. */
const home = process.env.OPENSEARCH_HOME ?? ''
/** The same with the security plugin. */
const secureHome = process.env.OPENSEARCH_SECURE_HOME ?? ''

const java = findNewestJava()
const hint = (variable: string) => `${variable} names no folder, or there is no JDK from 21 up`

export const opensearchRequirement = {
  isPresent: home !== '' && java !== undefined,
  name: 'OpenSearch',
  hint: hint('OPENSEARCH_HOME'),
}
export const secureOpensearchRequirement = {
  isPresent: secureHome !== '' && java !== undefined,
  name: 'OpenSearch with users',
  hint: hint('OPENSEARCH_SECURE_HOME'),
}

export type OpenSearch = ServerProcess & {
  readonly description: OpenSearchDescription
  readonly url: string
  readonly folder: string
  /** One request to the server itself, by no client that is under test; throws unless the status is below 300. */
  request(method: string, path: string, body?: unknown): Promise<unknown>
  /** Kills it and starts it without its data: another cluster at the same address. Snapshots stay. */
  renew(): Promise<void>
  /** Kills it and removes its folder; a shared one is left running, without its indices: they slow each later start. */
  end(): Promise<void>
}

/**
 * Not started yet. Half a minute until it answers. `tls`: with one for `server` and one for `admin`, whose bearer may do
 * everything; callers must show certificates of the same authority. `settings`: further lines of its configuration.
 */
export async function opensearch(tls?: ServerCertificateSet, settings: readonly string[] = []): Promise<OpenSearch> {
  const { folder, dispose } = createEngineFolder('opensearch')
  const [http = 0, transport = 0] = await findFreePorts(2)
  const own = copyHome(tls ? secureHome : home, folder)
  const own_settings = [...buildSettings(folder, http, transport), ...(tls ? buildSecuritySettings(folder, tls) : [])]
  writeConfiguration(own, folder, [...own_settings, ...settings])
  const user = chooseUnprivilegedUser(folder)
  const program = {
    command: path.join(own, 'bin/opensearch'),
    args: [],
    cwd: own,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      OPENSEARCH_JAVA_HOME: java,
      OPENSEARCH_PATH_CONF: path.join(folder, 'config'),
      OPENSEARCH_TMPDIR: path.join(folder, 'tmp'),
    },
    ...user,
  }
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${http}`
  const files = { log: path.join(folder, 'server.log'), pid_file: path.join(folder, 'server.pid') }
  const description = { url, folder, server: { name: 'opensearch', program, ...files } }
  return openSearchServer(description, { ...(tls ? { tls } : {}), dispose })
}

/** Enough for another process to use a server that this one started. */
export type OpenSearchDescription = {
  readonly url: string
  readonly folder: string
  readonly server: ServerDescription
}

/** `dispose`: removes the folder at the end; without it the server is shared, and runs on after `end`. */
export function openSearchServer(
  description: OpenSearchDescription,
  { tls, dispose }: { readonly tls?: ServerCertificateSet; readonly dispose?: () => void } = {},
): OpenSearch {
  const { url, folder } = description
  const request = createRequester(url, tls)
  const isReady = async () => {
    await request('GET', '/_cluster/health?wait_for_status=yellow&timeout=1s')
    if (tls) await request('GET', '/_plugins/_security/api/internalusers')
    return true
  }
  const server = serverProcess(description.server, isReady, dispose === undefined)
  return {
    ...server,
    description,
    url,
    folder,
    request,
    async renew() {
      await server.kill()
      const data = path.join(folder, 'data')
      for (const name of readdirSync(data)) rmSync(path.join(data, name), { recursive: true })
      await server.start()
    },
    async end() {
      if (dispose === undefined) {
        await server.start()
        await request('DELETE', '/*')
        return
      }
      await server.kill()
      dispose()
    },
  }
}

function buildSettings(folder: string, http: number, transport: number): string[] {
  return [
    'cluster.name: test',
    'node.name: n1',
    'discovery.type: single-node',
    `path.data: ${path.join(folder, 'data')}`,
    `path.logs: ${path.join(folder, 'logs')}`,
    `path.repo: ${path.join(folder, 'snapshots')}`,
    'network.host: 127.0.0.1',
    `http.port: ${http}`,
    `transport.port: ${transport}`,
    // A machine whose disk is nearly full would turn every index read-only.
    'cluster.routing.allocation.disk.threshold_enabled: false',
    // Mapping files into memory needs a kernel setting that test machines lack.
    'node.store.allow_mmap: false',
    // An index that our store did not make itself is a fault to be seen.
    'action.auto_create_index: .opendistro_security,.opensearch*',
  ]
}

function buildSecuritySettings(folder: string, tls: ServerCertificateSet): string[] {
  const server = tls.of('server')
  const installed = path.join(folder, 'config/certificates')
  mkdirSync(installed, { recursive: true })
  for (const name of ['ca', 'cert', 'key'] as const) cpSync(server[name], path.join(installed, `${name}.pem`))
  const files = (layer: string) => [
    `plugins.security.ssl.${layer}.pemcert_filepath: certificates/cert.pem`,
    `plugins.security.ssl.${layer}.pemkey_filepath: certificates/key.pem`,
    `plugins.security.ssl.${layer}.pemtrustedcas_filepath: certificates/ca.pem`,
  ]
  return [
    ...files('transport'),
    'plugins.security.ssl.transport.enforce_hostname_verification: false',
    ...files('http'),
    'plugins.security.ssl.http.enabled: true',
    'plugins.security.ssl.http.clientauth_mode: REQUIRE',
    'plugins.security.allow_default_init_securityindex: true',
    "plugins.security.authcz.admin_dn: ['CN=admin']",
    "plugins.security.nodes_dn: ['CN=server']",
  ]
}

function writeConfiguration(own: string, folder: string, settings: readonly string[]): void {
  const config = path.join(folder, 'config')
  cpSync(path.join(own, 'config'), config, { recursive: true })
  const security = path.join(own, 'plugins/opensearch-security/config')
  if (settings.some((line) => line.startsWith('plugins.security'))) {
    cpSync(security, path.join(config, 'opensearch-security'), { recursive: true })
  }
  for (const name of ['data', 'logs', 'tmp', 'snapshots']) mkdirSync(path.join(folder, name))
  writeFileSync(path.join(config, 'opensearch.yml'), `${settings.join('\n')}\n`)
  const console = [
    'rootLogger.level = warn',
    'rootLogger.appenderRef.out.ref = out',
    'appender.out.type = Console',
    'appender.out.name = out',
    'appender.out.layout.type = PatternLayout',
    'appender.out.layout.pattern = %d %p %c{1} %m%n',
  ]
  writeFileSync(path.join(config, 'log4j2.properties'), `${console.join('\n')}\n`)
  // Neither logs nor dumps beside the distribution, and a heap that leaves room for the tests.
  const lines = readFileSync(path.join(config, 'jvm.options'), 'utf8').split('\n')
  const jvm = lines.filter((line) => !/^-Xm[sx]|Xlog:gc|HeapDump|ErrorFile/.test(line))
  jvm.push('-Xms512m', '-Xmx512m', `-XX:ErrorFile=${path.join(folder, 'logs/jvm.log')}`, '-XX:TieredStopAtLevel=1')
  writeFileSync(path.join(config, 'jvm.options'), `${jvm.join('\n')}\n`)
}

function createRequester(url: string, tls: ServerCertificateSet | undefined): OpenSearch['request'] {
  const admin = tls?.of('admin')
  const certificates = admin && {
    ca: readFileSync(admin.ca),
    cert: readFileSync(admin.cert),
    key: readFileSync(admin.key),
  }
  const send = tls ? requestTls : requestPlain
  return (method, where, body) =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json' }
      const outgoing = send(`${url}${where}`, { method, headers, timeout: 30_000, agent: false, ...certificates })
      outgoing.once('error', reject)
      outgoing.once('timeout', () => outgoing.destroy(new Error('no answer')))
      outgoing.once('response', (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (piece: string) => {
          text += piece
        })
        answer.once('error', reject)
        answer.once('end', () => {
          if ((answer.statusCode ?? 500) >= 300) reject(new Error(`${answer.statusCode} ${text}`))
          else resolve(text.startsWith('{') ? JSON.parse(text) : text)
        })
      })
      outgoing.end(body === undefined ? undefined : JSON.stringify(body))
    })
}
