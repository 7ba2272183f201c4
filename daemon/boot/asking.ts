// One role asks another: in this process by a call, elsewhere on the site over its local socket; the asker cannot tell.
import * as http from 'node:http'
import { isRefused, Refused, refuse } from '../kernel/errors.ts'
import { permits } from '../kernel/identity.ts'
import { type Answer, perform, type Request, serviceCaller, type Workshop } from '../kernel/invoke.ts'
import { type Addressed, type AnyOperation, hasBody, pathParameters } from '../kernel/operation.ts'
import { refusedOf } from '../kernel/problem.ts'
import { allOperations } from './operations.ts'
import { type SiteFolder, socketOf } from './site-folder.ts'

export type Ask = (operation: AnyOperation, input: Readonly<Record<string, unknown>>) => Promise<unknown>

export type Office = {
  readonly folder: SiteFolder
  /** The workshops of the roles that run in this process. */
  readonly workshops: ReadonlyMap<string, Workshop>
  readonly serviceToken: (subject: string) => Promise<string>
  readonly random: (bytes: number) => string
}

const patience_ms = 30_000
const most_answer_bytes = 16 * 1_048_576

/** Asks as the service identity of `asker`. A refusal is thrown as the `Refused` that it was. */
export function asking(office: Office, asker: string): Ask {
  return async (operation, input) => {
    const target = addressOf(operation)
    const shop = office.workshops.get(target.role)
    return shop ? here(shop, target, asker, input, office.random) : elsewhere(office, target, asker, input)
  }
}

const addresses = new Map<AnyOperation, Addressed>()

function addressOf(operation: AnyOperation): Addressed {
  if (addresses.size === 0) for (const target of allOperations()) addresses.set(target.operation, target)
  const target = addresses.get(operation)
  if (!target) throw new TypeError(`no role declares ${operation.method} ${operation.path}`)
  return target
}

async function here(
  shop: Workshop,
  target: Addressed,
  asker: string,
  input: Readonly<Record<string, unknown>>,
  random: Office['random'],
) {
  const request: Request = {
    ...split(target.operation, input),
    accepts: [],
    if_match: undefined,
    idempotency_key: undefined,
    last_event_id: undefined,
    trace_id: random(16),
    signal: AbortSignal.timeout(patience_ms),
  }
  const caller = serviceCaller(asker)
  // As strict as between processes, so that running apart never finds a permission missing.
  if (!permits(caller.permissions, target.operation.allow))
    throw refuse('forbidden', `a service may not ${target.address}`)
  const answer: Answer | Refused = await perform(shop, target, caller, request)
  if (isRefused(answer)) throw answer
  return answer.body
}

async function elsewhere(office: Office, target: Addressed, asker: string, input: Readonly<Record<string, unknown>>) {
  const { params, query, body } = split(target.operation, input)
  const inPath = target.operation.path.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  )
  const search = new URLSearchParams(query).toString()
  const text = body === undefined ? '' : JSON.stringify(body)
  const answer = await exchange(
    socketOf(office.folder, target.role),
    target.operation.method,
    search ? `${inPath}?${search}` : inPath,
    text,
    {
      authorization: `Bearer ${await office.serviceToken(`role:${asker}`)}`,
      ...(text ? { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) } : {}),
    },
  )
  if (answer.status >= 400) throw refusedOf(answer.body, answer.status)
  return target.operation.output.parse(answer.body)
}

function split(operation: AnyOperation, input: Readonly<Record<string, unknown>>) {
  const inPath = pathParameters(operation.path)
  const params = Object.fromEntries(inPath.map((name) => [name, String(input[name])]))
  const rest = Object.entries(input).filter(([name, value]) => !inPath.includes(name) && value !== undefined)
  if (hasBody(operation.method)) return { params, query: {}, body: Object.fromEntries(rest) }
  return { params, query: Object.fromEntries(rest.map(([name, value]) => [name, String(value)])), body: undefined }
}

function exchange(socketPath: string, method: string, path: string, text: string, headers: http.OutgoingHttpHeaders) {
  return new Promise<{ status: number; body: unknown }>((resolve, reject) => {
    const fail = () => reject(new Refused('unavailable', 'another role of the site cannot be reached'))
    const request = http.request({ socketPath, method, path, headers, timeout: patience_ms }, (answer) => {
      const parts: Buffer[] = []
      let length = 0
      answer.on('data', (part: Buffer) => {
        length += part.length
        if (length > most_answer_bytes) request.destroy(new Error('too large'))
        else parts.push(part)
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: jsonIn(Buffer.concat(parts)) }))
      answer.on('error', fail)
    })
    request.on('timeout', () => request.destroy(new Error('timeout')))
    request.on('error', fail)
    request.end(text)
  })
}

function jsonIn(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}
