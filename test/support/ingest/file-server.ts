// A real HTTPS server of files with a certificate of its own authority, and answers of every bad kind.
import { once } from 'node:events'
import * as fs from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import * as https from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { createAuthority, issueCertificate } from '../keys/site-certificates.ts'

export type FileServer = {
  readonly port: number
  /** Authorities of its certificate, and others. */
  readonly ca_file: string
  readonly other_ca_file: string
  /** Requests as they came. */
  readonly requests: { readonly path: string; readonly authorization: string | undefined }[]
  /** Files by their paths. */
  readonly files: Map<string, { readonly bytes: Uint8Array; readonly type?: string }>
  close(): void
}

type Answer = (response: ServerResponse) => void

const badAnswers: Readonly<Record<string, Answer>> = {
  '/data/gzip.csv': (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('a\n1\n')),
  '/data/short.csv': (response) => {
    response.writeHead(200, { 'content-length': '1000' })
    response.write('a\n1\n', () => response.destroy())
  },
  '/data/endless.csv': (response) => {
    response.writeHead(200)
    const line = Buffer.alloc(65_536, '1\n')
    const write = () => {
      while (!response.destroyed && response.write(line));
    }
    response.on('drain', write)
    write()
  },
  '/data/error.csv': (response) => response.writeHead(500).end('a\n1\n'),
  '/data/silent.csv': () => undefined,
  '/data/within.csv': (response) => response.writeHead(302, { location: 'moved/people.csv' }).end(),
  '/data/outside.csv': (response) => response.writeHead(302, { location: '/private/people.csv' }).end(),
  '/data/dotted.csv': (response) => response.writeHead(302, { location: '/data/..%2fprivate/people.csv' }).end(),
  '/data/elsewhere.csv': (response) =>
    response.writeHead(307, { location: 'https://localhost:1/data/people.csv' }).end(),
  '/data/around.csv': (response) => response.writeHead(302, { location: 'around.csv' }).end(),
}

export async function startFileServer(): Promise<FileServer> {
  const dir = fs.mkdtempSync(path.join(tmpdir(), 'file-server-'))
  const authority = await createAuthority(dir, 'files')
  const other = await createAuthority(dir, 'other')
  const { pem } = await issueCertificate(dir, authority, 'files')
  const requests: FileServer['requests'] = []
  const files: FileServer['files'] = new Map()
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const { url = '', headers } = request
    requests.push({ path: url, authorization: headers.authorization })
    const bad = badAnswers[url]
    if (bad) return bad(response)
    const file = files.get(url)
    if (!file) return response.writeHead(404).end('<html>not found</html>')
    response.writeHead(200, file.type === undefined ? {} : { 'content-type': file.type }).end(file.bytes)
  }
  const server = https.createServer({ cert: pem, key: pem }, serve).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    ...{ requests, files, ca_file: authority.file, other_ca_file: other.file },
    port: (server.address() as AddressInfo).port,
    close() {
      server.close()
      server.closeAllConnections()
      fs.rmSync(dir, { recursive: true, force: true })
    },
  }
}
