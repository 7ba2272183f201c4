// Walks every operation with the most expensive inputs that its schema allows: each is answered, and none fails the
// service. With LOOP_FIGURES=FILE it also measures the delay of the event loop, for `scripts/bench loop`.

import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AddressedOperation, hasBody } from '../daemon/kernel/operation/operation.ts'
import { buildHardCases, type HardCase } from './support/every-operation/hard-cases.ts'
import type { OperationFixture } from './support/every-operation/operation-fixture.ts'
import type { OperationSample } from './support/every-operation/operation-samples.ts'
import { buildPeerCases } from './support/every-operation/peer-bodies.ts'
import { routedOperations } from './support/every-operation/routed-operations.ts'
import { createSampledFixture } from './support/every-operation/sampled-fixture.ts'
import { buildRequest } from './support/every-operation/send-operation.ts'
import { buildHostileBodies, buildLargestInput, limitOf } from './support/every-operation/worst-input.ts'
import { everyRoleSections } from './support/site/single-cluster-site.ts'

type SentRequest = {
  readonly port: number
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

const figuresFile = process.env.LOOP_FIGURES
const times = figuresFile ? 5 : 1
const operations = routedOperations.map((target) => [target.address, target] as const)

const data_folder = fs.mkdtempSync(path.join(tmpdir(), 'worst-inputs-'))

let world: OperationFixture
let inputs: ReadonlyMap<string, OperationSample>
let hardCases: readonly HardCase[]
let client: Worker
beforeAll(async () => {
  ;({ world, inputs } = await createSampledFixture(
    [],
    routedOperations.map(({ address }) => address),
    { resolution: { ...everyRoleSections.resolution, data_folder } },
  ))
  const records = figuresFile ? 200 : 40
  hardCases = [...(await buildHardCases(world, data_folder, records)), ...(await buildPeerCases(world))]
  client = new Worker(new URL('./support/bench/send-from-thread.mjs', import.meta.url))
  if (figuresFile) await measureEmptyLoop()
})
afterAll(async () => {
  await client?.terminate()
  await world?.site.close()
  fs.rmSync(data_folder, { recursive: true })
})

/** Measures the delay of the event loop, and the processor time of its longest turn: other processes do not add to that. */
class LoopProbe {
  readonly #delay = monitorEventLoopDelay({ resolution: 1 })
  #turn: NodeJS.Immediate
  #before_us = readProcessorTime_us()
  #longest_us = 0

  constructor() {
    this.#delay.enable()
    this.#turn = setImmediate(() => this.#measure())
  }

  #measure(): void {
    const now_us = readProcessorTime_us()
    this.#longest_us = Math.max(this.#longest_us, now_us - this.#before_us)
    this.#before_us = now_us
    this.#turn = setImmediate(() => this.#measure())
  }

  report(name: string, statuses: readonly number[]): void {
    this.#delay.disable()
    clearImmediate(this.#turn)
    const p999_ms = this.#delay.percentile(99.9) / 1e6
    const figures = { name, p999_ms, turn_ms: this.#longest_us / 1e3, statuses: [...new Set(statuses)] }
    fs.appendFileSync(String(figuresFile), `${JSON.stringify(figures)}\n`)
  }
}

/** For comparison. */
async function measureEmptyLoop(): Promise<void> {
  const probe = new LoopProbe()
  client.postMessage({ idle_ms: 1_000 })
  await new Promise((resolve) => client.once('message', resolve))
  probe.report('base', [])
}

function readProcessorTime_us(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

/** Sends the requests one after the other from the thread of the client. Returns their statuses. */
async function sendAll(name: string, requests: readonly SentRequest[]): Promise<number[]> {
  const send = (rounds: number) => {
    client.postMessage({ requests, times: rounds })
    return new Promise<{ statuses: number[]; error?: string }>((resolve) => client.once('message', resolve))
  }
  if (figuresFile) await send(1)
  const probe = figuresFile ? new LoopProbe() : undefined
  const { statuses, error } = await send(times)
  expect(error, name).toBeUndefined()
  probe?.report(name, statuses)
  return statuses
}

function buildSent(target: AddressedOperation, input: Readonly<Record<string, unknown>>, body?: string): SentRequest {
  const { method, path, headers = {}, body: ownBody } = buildRequest(target.operation, input)
  const text = body ?? (ownBody as string | undefined)
  return {
    port: world.site.port(target.role),
    method,
    path,
    headers: { authorization: `Bearer ${world.admin}`, ...headers },
    ...(text === undefined ? {} : { body: Buffer.from(text) }),
  }
}

/** An answer is one of the service, and not its failure; a limit may answer 503 with the time to retry. */
function expectAnswers(statuses: readonly number[]): void {
  for (const status of statuses) expect([500, 502, 504]).not.toContain(status)
  const failures = world.site.logged.filter((line) => line.includes('.failed"'))
  expect(failures).toEqual([])
}

test.each(operations)('%s with the largest values', async (address, target) => {
  const sample = inputs.get(address)?.input ?? {}
  const largest = buildLargestInput(target.operation, sample)
  expectAnswers(await sendAll(`${address}: largest`, [buildSent(target, sample), buildSent(target, largest)]))
})

const jsonOperations = operations.filter(([, { operation }]) => hasBody(operation.method) && !operation.consumes)

/** Bodies are refused by their limits, so that one operation of each role and limits stands for the others; figures are of all. */
const withOwnLimits = new Map(
  jsonOperations.map((named) => {
    const { role, operation } = named[1]
    const { max_body_bytes, max_body_values } = operation
    return [JSON.stringify([role, max_body_bytes, max_body_values]), named]
  }),
)

test.each(figuresFile ? jsonOperations : [...withOwnLimits.values()])(
  '%s with bodies that cost the most to refuse',
  async (address, target) => {
    const sample = inputs.get(address)?.input ?? {}
    const bodies = buildHostileBodies(limitOf(target.operation))
    expectAnswers(
      await sendAll(
        `${address}: hostile`,
        bodies.map((body) => buildSent(target, sample, body)),
      ),
    )
  },
)

test('the hardest work that data and lenses allow', async () => {
  for (const { name, address, inputs: hard } of hardCases) {
    const target = routedOperations.find((operation) => operation.address === address)
    if (!target) throw new Error(`there is no operation ${address}`)
    expectAnswers(
      await sendAll(
        `${address}: ${name}`,
        hard.map((input) => buildSent(target, input)),
      ),
    )
  }
})
