// A real store of the protocol of S3 of a test's own, over a folder, which verifies signatures: over TLS where it has a certificate.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { request as requestPlain } from 'node:http'
import { request as requestByTls } from 'node:https'
import path from 'node:path'
import aws4 from 'aws4'
import type { ServerCertificateFiles } from './server-certificates.ts'
import { createEngineFolder, findFreePorts, type ServerProcess, serverProcess } from './server-process.ts'

const command = process.env.VERSITYGW ?? ''
export const versitygwRequirement = {
  isPresent: existsSync(command),
  name: 'versitygw',
  hint: 'VERSITYGW names the program; .ci/run builds it',
}

export type S3Answer = { readonly status: number; readonly body: string; readonly etag: string | undefined }

export type Versitygw = ServerProcess & {
  readonly url: string
  readonly region: string
  readonly access_key_id: string
  readonly secret_access_key: string
  /** A request of the owner. `at`: path and query, as they are sent. */
  request(method: string, at: string, body?: string | Uint8Array): Promise<S3Answer>
  /** Writes an object; returns its ETag. */
  put(bucket: string, key: string, body: string | Uint8Array): Promise<string>
  end(): Promise<void>
}

export async function versitygw(tls?: ServerCertificateFiles): Promise<Versitygw> {
  const { folder, dispose } = createEngineFolder('versitygw')
  const at = (name: string) => path.join(folder, name)
  for (const name of ['objects', 'attributes']) mkdirSync(at(name))
  const [port = 0] = await findFreePorts(1)
  const [region, accessKeyId, secretAccessKey] = ['eu-test-1', 'owner', randomBytes(16).toString('hex')]
  const certificate = tls ? ['--cert', tls.cert, '--key', tls.key] : []
  const owner = ['--access', accessKeyId, '--secret', secretAccessKey, '--region', region]
  const words = [
    '--port',
    `127.0.0.1:${port}`,
    '--port',
    `127.0.0.3:${port}`,
    ...owner,
    ...certificate,
    '--virtual-domain',
    'localhost',
    '--quiet',
  ]
  const program = { command, args: [...words, 'posix', '--sidecar', at('attributes'), at('objects')], cwd: folder }
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${port}`
  const ca = tls && readFileSync(tls.ca)
  const request: Versitygw['request'] = async (method, place, body = '') => {
    const bytes = Buffer.from(body)
    const all = { host: `127.0.0.1:${port}`, service: 's3', region, method, path: place, body: bytes as never }
    const { headers } = aws4.sign(all, { accessKeyId, secretAccessKey })
    return await new Promise((done, fail) => {
      const options = { host: '127.0.0.1', port, method, path: place, headers: { ...headers }, ca }
      const sent = (tls ? requestByTls : requestPlain)(options as object, async (response) => {
        const text = Buffer.concat(await response.toArray()).toString()
        done({ status: response.statusCode ?? 0, body: text, etag: response.headers.etag })
      })
      sent.on('error', fail)
      sent.end(bytes)
    })
  }
  const files = { log: at('log'), pid_file: at('pid') }
  const server = serverProcess({ name: 'versitygw', program, ...files }, async () => {
    return (await request('GET', '/')).status === 200
  })
  return {
    ...server,
    ...{ url, region, access_key_id: accessKeyId, secret_access_key: secretAccessKey, request },
    async put(bucket, key, body) {
      const encoded = encodeURIComponent(key)
        .replace(/[!'()*]/g, escape)
        .replaceAll('%2F', '/')
      const answer = await request('PUT', `/${bucket}/${encoded}`, body)
      if (answer.status !== 200) throw new Error(`PUT of ${JSON.stringify(key)}: ${answer.status} ${answer.body}`)
      return answer.etag ?? ''
    },
    async end() {
      await server.kill()
      dispose()
    },
  }
}
