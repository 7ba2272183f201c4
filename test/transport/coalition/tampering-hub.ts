// Stands between the nodes and a real hub, and lies to them as a test tells it to.
import { once } from 'node:events'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import * as z from 'zod'
import { queuedHubMessage } from '../../../daemon/shared/coalition/hub-protocol.ts'
import type { HubEndpoint } from './test-hub.ts'

type HubMail = z.infer<typeof queuedHubMessage>
const page = z.object({ items: z.array(queuedHubMessage) })

export type HubTampering = {
  /** The announced content of a mailbox, in place of the real one. */
  mailbox?: (items: HubMail[], node: string) => unknown[] | Promise<unknown[]>
  /** True for a message that is acknowledged to its sender, and lost. */
  drops?: (seq: number) => boolean
  /** The whole answer to a request, in place of the hub's; undefined lets it through. */
  respond?: (
    method: string,
    path: string,
    authorization: string,
  ) => { status: number; type?: string; text: string; retry_after?: string } | undefined
}

export type TamperingHub = {
  readonly tampering: HubTampering
  endpoint(node: string): HubEndpoint
  close(): Promise<void>
}

export async function startTamperingHub(wayOf: (node: string) => HubEndpoint): Promise<TamperingHub> {
  const lies: HubTampering = {}
  const hub = new URL(wayOf('alpha').hub_url)
  const server = http.createServer((request, answer) => {
    relayRequest(request, answer, hub, lies).catch(() => answer.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    tampering: lies,
    endpoint: (node) => ({ ...wayOf(node), hub_url: `http://127.0.0.1:${port}` }),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function relayRequest(
  request: http.IncomingMessage,
  answer: http.ServerResponse,
  hub: URL,
  lies: HubTampering,
): Promise<void> {
  const { method = '', url = '', headers } = request
  const forged = lies.respond?.(method, url, headers.authorization ?? '')
  const parts: Buffer[] = []
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
  const body = Buffer.concat(parts)
  if (forged) {
    const { status, text, type = 'application/json', retry_after } = forged
    const asking = retry_after === undefined ? {} : { 'retry-after': retry_after }
    return void answer.writeHead(status, { 'content-type': type, ...asking }).end(text)
  }
  if (method === 'POST' && url.endsWith('/message')) {
    const { seq } = JSON.parse(body.toString()) as { seq: number }
    if (lies.drops?.(seq)) return void answer.writeHead(202).end('{"id":"mail_lie"}')
  }
  const onward = http.request(new URL(url, hub), { method, headers: { ...headers, host: hub.host } })
  answer.on('close', () => onward.destroy())
  onward.end(body)
  const [came] = (await once(onward, 'response')) as [http.IncomingMessage]
  const node = /node\/([^/]+)\/message\?/.exec(url)?.[1]
  if (node === undefined || !lies.mailbox || came.statusCode !== 200) {
    answer.writeHead(came.statusCode ?? 502, came.headers)
    came.pipe(answer)
    return
  }
  const text: Buffer[] = []
  for await (const part of came as AsyncIterable<Buffer>) text.push(part)
  const { items } = page.parse(JSON.parse(Buffer.concat(text).toString()))
  answer.writeHead(200, { 'content-type': 'application/json' })
  answer.end(JSON.stringify({ items: await lies.mailbox(items, node) }))
}
