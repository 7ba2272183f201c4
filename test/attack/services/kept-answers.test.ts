// Answers of a service are not kept after their calls, whose limit is hours where they may wait for a person.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, expect, test } from 'vitest'
import { addressRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import { mcpToolServices } from '../../../adapters/tools/mcp/connect-tools.ts'
import { type LibraryService, startLibraryService } from '../../support/mcp/library-service.ts'

const limits = { answer_ms: 10_000, answer_bytes: 2_097_152, depth: 32, tools: 50 }
const rule = addressRule(['127.0.0.0/8'])
const services = mcpToolServices({ about: { name: 'test', version: '1' }, limits, rule })
const answer_bytes = 250_000
const calls = 200

let service: LibraryService | undefined
afterEach(async () => {
  await service?.close()
})

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

async function usedBytes(): Promise<number> {
  for (let turn = 0; turn < 4; turn += 1) {
    collect()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return process.memoryUsage().heapUsed
}

test.each(['2026-07-28', '2025-11-25'])('of a service that speaks %s', async (revision) => {
  service = await startLibraryService(revision)
  service.answerWith([{ type: 'text', text: 'x'.repeat(answer_bytes) }])
  const address = { url: service.url, token: async () => 'token', abilities: { elicitation: {} } }
  const connection = await services.connect(address)
  const call = async () => await connection.callForClient({ name: 'echo', input: {}, timeout_ms: 60_000 })
  for (let at = 0; at < 20; at += 1) await call()
  const before = await usedBytes()
  for (let at = 0; at < calls; at += 1) await call()
  expect((await usedBytes()) - before).toBeLessThan((calls * answer_bytes) / 4)
  await connection.close()
})
