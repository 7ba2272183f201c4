// A real receiver of webhooks: checks each seal, answers as the test wants, remembers what came.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import * as fs from 'node:fs'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import * as z from 'zod'

const emission = z.object({
  id: z.string(),
  event: z.enum(['ratified', 'retracted']),
  session_id: z.string(),
  attested: z.boolean(),
  decision: z.string().optional(),
  score: z.number().nullable(),
  evidence_block_id: z.string().optional(),
})

export type WebhookDelivery = z.infer<typeof emission> & {
  /** Whether the seal is the secret's over exactly these bytes. */
  readonly isSealed: boolean
  readonly traceparent: string
  readonly answered: number
}

export type WebhookReceiver = {
  readonly url: string
  readonly secret_file: string
  readonly deliveries: readonly WebhookDelivery[]
  /** Statuses of the next answers; 204 once they are used up. */
  answerWith(...statuses: number[]): void
  /** From now on, each answer comes so much later. */
  answerAfter(delay_ms: number): void
  close(): Promise<void>
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const dir = fs.mkdtempSync(path.join(tmpdir(), 'webhook-'))
  const secret = randomBytes(24).toString('hex')
  const secret_file = path.join(dir, 'secret')
  fs.writeFileSync(secret_file, `${secret}\n`, { mode: 0o600 })
  const deliveries: WebhookDelivery[] = []
  const statuses: number[] = []
  let delay = 0
  const server = http.createServer(async (request, response) => {
    const text = await readText(request)
    const answered = statuses.shift() ?? 204
    const isSealed = isSealValid(secret, String(request.headers['x-platform-signature']), text)
    const traceparent = String(request.headers.traceparent)
    deliveries.push({ ...emission.parse(JSON.parse(text)), isSealed, traceparent, answered })
    setTimeout(() => response.writeHead(answered).end(), delay)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    secret_file,
    deliveries,
    answerWith: (...next) => void statuses.splice(0, statuses.length, ...next),
    answerAfter(delay_ms) {
      delay = delay_ms
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      fs.rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function readText(request: http.IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}

function isSealValid(secret: string, header: string, text: string): boolean {
  const [, at, seal] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? []
  if (at === undefined || seal === undefined) return false
  const expected = createHmac('sha256', secret).update(`${at}.${text}`).digest()
  return timingSafeEqual(expected, Buffer.from(seal, 'hex'))
}
