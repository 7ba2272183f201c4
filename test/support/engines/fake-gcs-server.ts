// A real emulator of Google Cloud Storage of a test's own, over plain HTTP. It takes every token: a gate before it does not.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { createEngineFolder, findFreePorts, type ServerProcess, serverProcess } from './server-process.ts'

const command = process.env.FAKE_GCS_SERVER ?? ''
export const fakeGcsRequirement = {
  isPresent: existsSync(command),
  name: 'fake-gcs-server',
  hint: 'FAKE_GCS_SERVER names the program; .ci/run builds it',
}

export type FakeGcsServer = ServerProcess & {
  readonly port: number
  put(key: string, content: string): Promise<void>
  remove(key: string): Promise<void>
  end(): Promise<void>
}

/** With one bucket. */
export async function fakeGcsServer(bucket: string): Promise<FakeGcsServer> {
  const { folder, dispose } = createEngineFolder('fake-gcs-server')
  const [port = 0] = await findFreePorts(1)
  const url = `http://127.0.0.1:${port}`
  const place = ['-host', '127.0.0.1', '-port', String(port), '-public-host', `127.0.0.1:${port}`]
  const program = { command, args: [...place, '-scheme', 'http', '-backend', 'memory'], cwd: folder }
  const files = { log: path.join(folder, 'log'), pid_file: path.join(folder, 'pid') }
  const send = async (method: string, at: string, body?: string) => {
    const response = await fetch(`${url}${at}`, { method, ...(body !== undefined && { body }) })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${at}: ${response.status} ${text}`)
  }
  const server = serverProcess({ name: 'fake-gcs-server', program, ...files }, async () => {
    return (await fetch(`${url}/storage/v1/b`)).ok
  })
  return {
    ...server,
    port,
    async start() {
      await server.start()
      await send('POST', '/storage/v1/b?project=test', JSON.stringify({ name: bucket }))
    },
    put: (key, content) => {
      const query = new URLSearchParams({ uploadType: 'media', name: key })
      return send('POST', `/upload/storage/v1/b/${bucket}/o?${query}`, content)
    },
    remove: (key) => send('DELETE', `/storage/v1/b/${bucket}/o/${encodeURIComponent(key)}`),
    async end() {
      await server.kill()
      dispose()
    },
  }
}
