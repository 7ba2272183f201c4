// Starts a provider or an upstream behind the proxy as a process of its own.
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type ServerProcess, serverProcess } from '../support/engines/server-process.ts'

export function createBackend(name: string, port: number, folder: string): ServerProcess {
  const args = [join(import.meta.dirname, 'proxy-backends.ts'), name, String(port)]
  const isReady = async () => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect').finally(() => socket.destroy())
    return true
  }
  return serverProcess(
    {
      name,
      program: { command: process.execPath, args },
      log: join(folder, name),
      pid_file: join(folder, `${name}.pid`),
    },
    isReady,
  )
}
