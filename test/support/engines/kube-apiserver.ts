// The API of a real Kubernetes cluster: etcd and kube-apiserver, without nodes and controllers.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import path from 'node:path'
import { createEngineFolder, findFreePorts, type ServerProcess, serverProcess } from './server-process.ts'

const home = process.env.KUBE_APISERVER_HOME ?? ''
export const kubeApiserverRequirement = {
  isPresent: existsSync(path.join(home, 'kube-apiserver')),
  name: 'kube-apiserver',
  hint: 'KUBE_APISERVER_HOME names the folder of a build of it and of etcd; .ci/run makes one',
}

export type KubeAnswer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> }

export type KubeApiserver = {
  readonly url: string
  /** Certificate (PEM) with which the server answers. */
  readonly ca: string
  /** Of an administrator of the cluster. */
  readonly token: string
  /** `token`: of another user. */
  request(method: string, at: string, body?: unknown, token?: string): Promise<KubeAnswer>
  /** To end it and start it again over the same data and port. */
  readonly server: ServerProcess
  /** Compacts the history of the cluster: versions from before are too old for a watch, once the server has no memory of them. */
  forgetHistory(): Promise<void>
  end(): Promise<void>
}

export async function kubeApiserver(): Promise<KubeApiserver> {
  const { folder, dispose } = createEngineFolder('kube-apiserver')
  const [port = 0, etcd_port = 0, peer_port = 0] = await findFreePorts(3)
  const token = randomBytes(16).toString('hex')
  writeFileSync(path.join(folder, 'tokens.csv'), `${token},admin,admin,system:masters\n`, { mode: 0o600 })
  writeServiceAccountKeys(folder)
  const url = `https://127.0.0.1:${port}`
  const readCa = () => readFileSync(path.join(folder, 'certificates', 'apiserver.crt'), 'utf8')
  const send: KubeApiserver['request'] = (method, at, body, user = token) =>
    sendJson({ url: `${url}${at}`, method, ca: readCa(), token: user }, body)
  const etcd_url = `http://127.0.0.1:${etcd_port}`
  const etcd = startable('etcd', describeEtcd(folder, etcd_url, `http://127.0.0.1:${peer_port}`), folder, async () => {
    return (await fetch(`${etcd_url}/health`)).ok
  })
  const server = startable('kube-apiserver', describeServer(folder, url, port, etcd_url), folder, async () => {
    return existsSync(path.join(folder, 'certificates')) && (await send('GET', '/readyz?verbose')).status === 200
  })
  await etcd.start()
  await server.start()
  return {
    ...{ url, ca: readCa(), token, request: send, server },
    forgetHistory: () => compact(etcd_url),
    async end() {
      await server.kill()
      await etcd.kill()
      dispose()
    },
  }
}

/** By the JSON gateway of etcd; a further key makes the last version of the cluster an old one. */
async function compact(etcd_url: string): Promise<void> {
  const post = async (at: string, body: object) => {
    const answer = await fetch(`${etcd_url}/v3/kv/${at}`, { method: 'POST', body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`etcd answered ${answer.status} to ${at}`)
    return (await answer.json()) as { header: { revision: string } }
  }
  const { header } = await post('put', { key: btoa('unrelated'), value: btoa('later') })
  await post('compaction', { revision: header.revision, physical: true })
}

function startable(name: string, args: readonly string[], folder: string, isReady: () => Promise<boolean>) {
  const program = { command: path.join(home, name), args, cwd: folder }
  const files = { log: path.join(folder, `${name}.log`), pid_file: path.join(folder, `${name}.pid`) }
  return serverProcess({ name, program, ...files }, isReady)
}

function describeEtcd(folder: string, client_url: string, peer_url: string): readonly string[] {
  return [
    ...['--data-dir', path.join(folder, 'etcd'), '--unsafe-no-fsync', '--log-level', 'warn'],
    ...['--listen-client-urls', client_url, '--advertise-client-urls', client_url],
    ...['--listen-peer-urls', peer_url, '--initial-advertise-peer-urls', peer_url],
    ...['--initial-cluster', `default=${peer_url}`],
  ]
}

function describeServer(folder: string, url: string, port: number, etcd_url: string): readonly string[] {
  const file = (name: string) => path.join(folder, name)
  return [
    ...['--etcd-servers', etcd_url, '--bind-address', '127.0.0.1', '--secure-port', String(port)],
    ...['--advertise-address', '127.0.0.1', '--endpoint-reconciler-type', 'none'],
    ...['--service-cluster-ip-range', '10.96.0.0/24', '--cert-dir', file('certificates')],
    ...['--token-auth-file', file('tokens.csv'), '--authorization-mode', 'RBAC', '--service-account-issuer', url],
    ...['--service-account-key-file', file('accounts.pub'), '--service-account-signing-key-file', file('accounts.key')],
    // Without controllers no namespace has its default account, which this plugin would wait for.
    ...['--disable-admission-plugins', 'ServiceAccount', '--enable-priority-and-fairness=false'],
  ]
}

function writeServiceAccountKeys(folder: string): void {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  writeFileSync(path.join(folder, 'accounts.pub'), publicKey.export({ type: 'spki', format: 'pem' }))
  writeFileSync(path.join(folder, 'accounts.key'), privateKey.export({ type: 'sec1', format: 'pem' }), { mode: 0o600 })
}

type KubeRequest = {
  readonly url: string
  readonly method: string
  readonly ca: string
  readonly token: string
}

function sendJson({ url, method, ca, token }: KubeRequest, body: unknown): Promise<KubeAnswer> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const sent = request(url, { method, ca, headers, agent: false }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () => {
        const text = Buffer.concat(parts).toString()
        resolve({ status: response.statusCode ?? 0, body: text.startsWith('{') ? JSON.parse(text) : {} })
      })
    })
    sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
  })
}
