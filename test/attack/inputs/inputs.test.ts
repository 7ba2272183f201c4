// Every field, parameter and header of every operation with what a hostile client sends: the answer is one that the
// operation declares, and says nothing of the inside; the process lives, and logs no fault.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type AddressedOperation,
  hasBody,
  listPaths,
  pathParameters,
} from '../../../daemon/kernel/operation/operation.ts'
import { expectProblem } from '../../support/every-operation/expect-problem.ts'
import type { OperationFixture } from '../../support/every-operation/operation-fixture.ts'
import type { OperationSample } from '../../support/every-operation/operation-samples.ts'
import { routedOperations } from '../../support/every-operation/routed-operations.ts'
import { createSampledFixture } from '../../support/every-operation/sampled-fixture.ts'
import { isAcceptedInput, listInputFields, sendOperation } from '../../support/every-operation/send-operation.ts'
import type { ExactResponse } from '../../support/http/send-exact-request.ts'
import { formatRawRequest, sendRawHttp } from '../../support/http/send-raw-http.ts'
import { hostileParameters, listHostileTexts } from './hostile-values.ts'

let world: OperationFixture
let inputs: ReadonlyMap<string, OperationSample>
let logged_before: number
beforeAll(async () => {
  const addresses = routedOperations.map(({ address }) => address)
  ;({ world, inputs } = await createSampledFixture([], addresses))
  logged_before = world.site.logged.length
})
afterAll(() => world?.site.close())

const named = (targets: readonly AddressedOperation[]) => targets.map((target) => [target.address, target] as const)
const inputOf = ({ address }: AddressedOperation) => inputs.get(address)?.input ?? {}

/** Success, or a refusal that the operation declares; never a fault of the service. */
function expectDeclared(answer: ExactResponse, { address, operation }: AddressedOperation, what: string): void {
  expect(answer.status, `${address} with ${what.slice(0, 200)}: ${answer.text}`).not.toBe(500)
  if (answer.status >= 400) expectProblem(answer, [answer.status], operation)
}

/** The body of the operation's good request with one member as the text says. */
function buildBody(target: AddressedOperation, name: string, text: string): string {
  const inPath = pathParameters(target.operation.path)
  const others = Object.entries(inputOf(target)).filter(([field]) => field !== name && !inPath.includes(field))
  const members = [...others.map(([field, value]) => `${JSON.stringify(field)}:${JSON.stringify(value)}`)]
  return `{${[...members, `${JSON.stringify(name)}:${text}`].join(',')}}`
}

const jsonOperations = routedOperations.filter(
  ({ operation }) => hasBody(operation.method) && !operation.consumes && !operation.signed,
)

/** Whether the body comes to the operation: any other is refused by the parser of JSON or by the schema. */
function isAcceptedBody(target: AddressedOperation, body: string): boolean {
  try {
    return isAcceptedInput(target.operation, { ...inputOf(target), ...JSON.parse(body) })
  } catch {
    return false
  }
}

/** One code refuses for all fields: of the bodies that it refuses one in four is sent, another one for each field. */
const refused_share = 4
let refused = 0
const isSampled = () => refused++ % refused_share === 0

describe('in the fields of a body', () => {
  test.each(named(jsonOperations))('%s', async (_, target) => {
    const inPath = pathParameters(target.operation.path)
    for (const [name, schema] of Object.entries(listInputFields(target.operation))) {
      if (inPath.includes(name)) continue
      for (const text of listHostileTexts(schema)) {
        const body = buildBody(target, name, text)
        if (!isAcceptedBody(target, body) && !isSampled()) continue
        const headers = { 'content-type': 'application/json' }
        const answer = await sendOperation(world, target, inputOf(target), { token: world.admin, body, headers })
        expectDeclared(answer, target, `${name}: ${text}`)
      }
    }
  })
})

describe('in the parameters of a path or a query', () => {
  test.each(named(routedOperations))('%s', async (_, target) => {
    const { operation, role } = target
    const [path = ''] = listPaths(operation)
    const inPath = pathParameters(path)
    const inQuery = hasBody(operation.method)
      ? []
      : Object.keys(listInputFields(operation)).filter((each) => !inPath.includes(each))
    const fill = (hostile: Readonly<Record<string, string>>) =>
      path.replaceAll(
        /\{([a-z_]+)\}/g,
        (_all, name: string) => hostile[name] ?? encodeURIComponent(String(inputOf(target)[name] ?? 'x')),
      )
    const places = [
      ...inPath.map((name) => (value: string) => fill({ [name]: value })),
      ...inQuery.map((name) => (value: string) => `${fill({})}?${name}=${value}`),
    ]
    // Each value in one parameter: in the path as in the query, one code decodes them all.
    const paths = hostileParameters.flatMap((value, at) => places[at % places.length]?.(value) ?? [])
    const body = hasBody(operation.method) ? { body: '{}', headers: { 'content-type': 'application/json' } } : {}
    for (const path of paths) {
      const answer = await world.site.request(role, { method: operation.method, path, token: world.admin, ...body })
      expect(answer.status, `${path.slice(0, 200)}: ${answer.text}`).not.toBe(500)
      // Another path may be another operation, or none.
      if (answer.status >= 400) expectProblem(answer, [answer.status])
    }
  })
})

describe('in the head of a request', () => {
  const heads: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'a token twice': { Authorization: 'Bearer x', authorization: 'Bearer y' },
    'a content type twice': { 'Content-Type': 'application/json', 'content-type': 'text/plain' },
    'two lengths': { 'Content-Length': '2', 'content-length': '3' },
    'a length that is none': { 'content-length': '2e1' },
    'a length below nothing': { 'content-length': '-1' },
    'a length and chunks': { 'Content-Length': '2', 'transfer-encoding': 'chunked' },
    'an encoding that is none': { 'transfer-encoding': 'xchunked' },
    'two hosts': { Host: 'a', host: 'b' },
    'an idempotency key that is a path': { 'idempotency-key': '../../x' },
    'an empty idempotency key': { 'idempotency-key': '' },
    'a version that is none': { 'if-match': '"*", W/"1"' },
    'a trace that is none': { traceparent: '00-00000000000000000000000000000000-0000000000000000-00' },
    'an expectation': { expect: '200-maybe' },
    'an upgrade': { connection: 'upgrade', upgrade: 'h2c' },
    'an accepted type of many': { accept: `${'text/x;q=0.1,'.repeat(400)}*/*` },
    'a forwarded address': { 'x-forwarded-for': '127.0.0.1', forwarded: 'for=127.0.0.1' },
    'another method in a header': { 'x-http-method-override': 'DELETE' },
    'a bare carriage return': { x: 'a\rb' },
    'a folded header': { x: 'a\r\n b' },
    'a NUL': { x: 'a\0b' },
  }
  const listeners = ['site', 'consensus', 'hub', 'resolution', 'intelligence'] as const

  test.each(Object.entries(heads))('%s', async (_, head) => {
    for (const role of listeners) {
      const raw = formatRawRequest(
        'POST /api/v2/nothing',
        head,
        head['transfer-encoding'] ? '2\r\n{}\r\n0\r\n\r\n' : '{}',
      )
      // A connection that is kept has the whole answer when its problem document ends.
      const { status, text } = await sendRawHttp({ port: world.site.port(role) }, raw, (so_far) =>
        /\r\n\r\n\{.*\}$/s.test(so_far),
      )
      expect([400, 401, 404, 405, 411, 413, 415, 417, 431, 501], text).toContain(status)
      expect(text).not.toMatch(/node_modules|\bat \w+ \(|Error:/)
    }
  })
})

test('no request was a fault of the service, and it answers as before', async () => {
  const faults = world.site.logged.slice(logged_before).filter((line) => line.includes('"level":"error"'))
  expect(faults).toEqual([])
  for (const role of ['site', 'consensus', 'hub', 'resolution', 'intelligence', 'proxy']) {
    const answer = await world.site.request(role, { method: 'GET', path: '/health' })
    expect(answer.status, role).toBe(200)
  }
})
