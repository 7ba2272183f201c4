// A real emulator of the blobs of Azure of a test's own, which verifies keys and signatures, over TLS where it has a certificate.
import { createHmac, randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { request as requestByTls } from 'node:https'
import path from 'node:path'
import type { ServerCertificateFiles } from './server-certificates.ts'
import { createEngineFolder, findFreePorts, type ServerProcess, serverProcess } from './server-process.ts'

const command = process.env.AZURITE ?? ''
export const azuriteRequirement = {
  isPresent: existsSync(command),
  name: 'azurite',
  hint: 'AZURITE names the program; .ci/run installs it',
}

export type Azurite = ServerProcess & {
  /** URL of the account. */
  readonly url: string
  readonly port: number
  readonly account_key: string
  /** A request of the owner below the container. */
  request(method: string, at: string, body?: string): Promise<{ readonly status: number; readonly body: string }>
  /** Writes a blob. */
  put(key: string, content: string): Promise<void>
  /** A shared access signature of the container, with these rights, such as rl. */
  createSas(rights: string): string
  end(): Promise<void>
}

const account = 'acme'
const version = '2021-12-02'

export async function azurite(tls: ServerCertificateFiles, container: string): Promise<Azurite> {
  const { folder, dispose } = createEngineFolder('azurite')
  const [port = 0] = await findFreePorts(1)
  const account_key = randomBytes(32).toString('base64')
  const words = ['--blobHost', '127.0.0.1', '--blobPort', String(port), '--location', folder, '--silent']
  const program = {
    ...{ command, args: [...words, '--disableTelemetry', '--cert', tls.cert, '--key', tls.key], cwd: folder },
    env: { ...process.env, AZURITE_ACCOUNTS: `${account}:${account_key}` },
  }
  const hmac = (text: string) => createHmac('sha256', Buffer.from(account_key, 'base64')).update(text).digest('base64')
  const request: Azurite['request'] = async (method, at, body = '') => {
    const place = new URL(`https://127.0.0.1:${port}/${account}/${container}${at}`)
    const named = { 'x-ms-blob-type': 'BlockBlob', 'x-ms-date': new Date().toUTCString(), 'x-ms-version': version }
    const length = Buffer.byteLength(body)
    const query = [...place.searchParams]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => `\n${name}:${value}`)
    const lines = [method, '', '', length === 0 ? '' : String(length), ...Array.from({ length: 8 }, () => '')]
    const text = [...lines, ...Object.entries(named).map(([name, value]) => `${name}:${value}`)].join('\n')
    const signature = hmac(`${text}\n/${account}${place.pathname}${query.join('')}`)
    const headers = { ...named, 'content-length': length, authorization: `SharedKey ${account}:${signature}` }
    return await new Promise((done, fail) => {
      const options = { method, headers, ca: readFileSync(tls.ca) }
      const sent = requestByTls(place, options, async (response) => {
        done({ status: response.statusCode ?? 0, body: Buffer.concat(await response.toArray()).toString() })
      })
      sent.on('error', fail)
      sent.end(body)
    })
  }
  const files = { log: path.join(folder, 'log'), pid_file: path.join(folder, 'pid') }
  const server = serverProcess({ name: 'azurite', program, ...files }, async () => {
    return [201, 409].includes((await request('PUT', '?restype=container')).status)
  })
  return {
    ...server,
    ...{ url: `https://127.0.0.1:${port}/${account}`, port, account_key, request },
    async put(key, content) {
      const { status, body } = await request('PUT', `/${encodeURIComponent(key).replaceAll('%2F', '/')}`, content)
      if (status !== 201) throw new Error(`PUT of ${JSON.stringify(key)}: ${status} ${body}`)
    },
    createSas(rights) {
      const end = new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d+/, '')
      const fields = [rights, '', end, `/blob/${account}/${container}`, '', '', 'https', version, 'c', '', '']
      const signature = hmac([...fields, '', '', '', '', ''].join('\n'))
      return new URLSearchParams({ sp: rights, se: end, spr: 'https', sv: version, sr: 'c', sig: signature }).toString()
    },
    async end() {
      await server.kill()
      dispose()
    },
  }
}
