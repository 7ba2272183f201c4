// The port of a server at another address of this machine, such as one for which its certificate is not.
import { connect, createServer, type Server } from 'node:net'

/** The test closes it. */
export async function forwardPort(address: string, port: number): Promise<Server> {
  const proxy = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    near.on('error', () => far.destroy())
    far.on('error', () => near.destroy())
    near.pipe(far).pipe(near)
  })
  await new Promise<void>((done) => void proxy.listen(port, address, done))
  return proxy
}
