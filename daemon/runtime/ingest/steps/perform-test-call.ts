// Performs `test_call`: sends the request with values of earlier responses, and lands the response as a dataset.
import { createHash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { parseJson } from '../../../kernel/encoding/parse-json.ts'
import type { HopParams } from '../../../roles/ingest/journey-test/hop.ts'
import { type JsonValue, readKeyPath } from '../../../roles/ingest/journey-test/key-path.ts'
import { findMismatch } from '../../../roles/ingest/journey-test/matcher.ts'
import {
  type ResponseReference,
  resolveReferences,
  resolveText,
  textOf,
} from '../../../roles/ingest/journey-test/reference.ts'
import { testCall } from '../../../roles/ingest/operator/test-call.ts'
import type { TaskOutcome } from '../../../roles/ingest/parts.ts'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'
import { callTool } from '../http-target/call-tool.ts'
import { type CapturedResponse, landResponse, readResponse } from '../http-target/captured-response.ts'
import { describeProblem, keyOfTask, openTarget, sendToTarget, urlWithin } from '../http-target/open-target.ts'
import type { TaskThreadJob } from '../thread-job.ts'
import { landOnce } from './dataset-store.ts'

const repeat_ms = 1_000

type ReferenceReader = (reference: ResponseReference) => JsonValue

export async function performTestCall(job: TaskThreadJob): Promise<TaskOutcome> {
  const params = testCall.params.parse(job.task.params)
  return await landOnce(job, async (place) => {
    const read = await responseReader(job)
    const response = await captureUntil(params, () => capture(job, params, read))
    const { request, body } = response
    const sha256 = createHash('sha256').update(body).digest('hex')
    await landResponse(place, response, { name: request, bytes: Buffer.byteLength(body), sha256 })
    const status = response.status === undefined ? '' : ` answered ${response.status},`
    return [`${request}${status} ${Buffer.byteLength(body)} bytes in ${response.duration_ms} ms`]
  })
}

/** Values of the responses before, which are read at once: they are few and small. */
async function responseReader(job: TaskThreadJob): Promise<ReferenceReader> {
  const bodies = new Map<string, JsonValue | undefined>()
  for (const summary of job.inputs)
    bodies.set(summary.dataset.split('/').at(-1) ?? '', (await readResponse(job, summary)).body)
  return ({ hop, path }) => {
    const body = bodies.get(hop)
    const value = body === undefined ? undefined : readKeyPath(body, path)
    if (value !== undefined) return value
    throw new RowSourceError(`the response of ${hop} has no value at "${path}", which the request takes`)
  }
}

/** The last response, once it is as the hop expects. */
async function captureUntil(
  { until }: HopParams,
  captureOnce: () => Promise<CapturedResponse>,
): Promise<CapturedResponse> {
  const begun = performance.now()
  for (;;) {
    const response = await captureOnce()
    const mismatch = until && findMismatch(parseJson(response.body) as JsonValue | undefined, until)
    if (!mismatch) return response
    if (performance.now() - begun + repeat_ms > until.within_s * 1_000)
      throw new RowSourceError(
        `${response.request}: not within ${until.within_s} s: at "${mismatch.path}" expected ${mismatch.expected}, found ${mismatch.found}`,
      )
    await setTimeout(repeat_ms)
  }
}

async function capture(job: TaskThreadJob, params: HopParams, read: ReferenceReader): Promise<CapturedResponse> {
  const begun = performance.now()
  const response = params.mcp ? await captureTool(job, params, read) : await captureRest(job, params, read)
  return { ...response, duration_ms: Math.round(performance.now() - begun) }
}

type CapturedExchange = Omit<CapturedResponse, 'duration_ms'>

async function captureRest(job: TaskThreadJob, params: HopParams, read: ReferenceReader): Promise<CapturedExchange> {
  const { method = 'GET', path = '', query = {}, headers = {}, body } = params.rest ?? {}
  const target = openTarget(job)
  const url = urlWithin(
    target,
    resolveText(path, (reference) => encodeURIComponent(textOf(read(reference)))),
  )
  for (const [name, value] of Object.entries(query))
    url.searchParams.append(
      name,
      resolveText(`${value}`, (reference) => textOf(read(reference))),
    )
  const sent = body === undefined ? undefined : JSON.stringify(resolveReferences(body as JsonValue, read))
  const answer = await sendToTarget(
    target,
    url,
    {
      method,
      headers: {
        accept: 'application/json',
        ...(method === 'POST' && { 'idempotency-key': keyOfTask(job) }),
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
        ...resolveHeaders(headers, read),
      },
      body: sent,
    },
    new AbortController().signal,
  )
  const request = `${method} /${path}`
  const text = answer.body.toString().toWellFormed()
  const { expect_status } = params
  const isExpected = expect_status === undefined ? isSuccess(answer.status) : answer.status === expect_status
  if (!isExpected)
    throw new RowSourceError(
      `${request}: expected status ${expect_status ?? '200 to 299'}, found ${answer.status}${describeProblem(text)}`,
    )
  return { request, status: answer.status, is_error: answer.status >= 400, media_type: answer.media_type, body: text }
}

function resolveHeaders(headers: Readonly<Record<string, string | undefined>>, read: ReferenceReader) {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, template]) => {
      if (template === undefined) return []
      const value = resolveText(template, (reference) => textOf(read(reference)))
      if (/^[\x20-\x7e]*$/.test(value)) return [[name, value]]
      throw new RowSourceError(`the header ${name} would have characters that no header may have`)
    }),
  )
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

async function captureTool(job: TaskThreadJob, params: HopParams, read: ReferenceReader): Promise<CapturedExchange> {
  const { tool = '', arguments: given = {} } = params.mcp ?? {}
  const input = resolveReferences(given as JsonValue, read) as Record<string, JsonValue>
  const { is_error, structured_content, content } = await callTool(openTarget(job), tool, input)
  const [first] = content
  const text = first?.type === 'text' && typeof first.text === 'string' ? first.text : undefined
  const request = `the tool ${tool}`
  if (is_error !== params.expect_error)
    throw new RowSourceError(
      is_error
        ? `${request} ended with an error${describeProblem(text ?? '')}`
        : `${request} was expected to end with an error`,
    )
  const body = structured_content ? JSON.stringify(structured_content) : (text ?? JSON.stringify(content))
  return { request, is_error, media_type: 'application/json', body: body.toWellFormed() }
}
