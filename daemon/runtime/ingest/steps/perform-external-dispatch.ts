// Performs `external_dispatch`: sends the payload under a key that is the same for each try, and lands the acknowledgement.
import { createHash } from 'node:crypto'
import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { parseJson } from '../../../kernel/encoding/parse-json.ts'
import { type JsonValue, readKeyPath } from '../../../roles/ingest/journey-test/key-path.ts'
import { showValue } from '../../../roles/ingest/journey-test/matcher.ts'
import { externalDispatch } from '../../../roles/ingest/operator/external-dispatch.ts'
import type { TaskOutcome } from '../../../roles/ingest/parts.ts'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'
import { type CapturedResponse, landResponse } from '../http-target/captured-response.ts'
import { describeProblem, keyOfTask, openTarget, sendToTarget, urlWithin } from '../http-target/open-target.ts'
import type { TaskThreadJob } from '../thread-job.ts'
import { landOnce } from './dataset-store.ts'

export async function performExternalDispatch(job: TaskThreadJob): Promise<TaskOutcome> {
  const { path = '', method, payload, reference } = externalDispatch.params.parse(job.task.params)
  const body = canonicalJson(payload)
  const digest = createHash('sha256').update(body)
  const sha256 = digest.copy().digest('hex')
  return await landOnce(job, async (place) => {
    const target = openTarget(job)
    const begun = performance.now()
    const answer = await sendToTarget(
      target,
      urlWithin(target, path),
      {
        method,
        headers: {
          ...{ accept: 'application/json', 'content-type': 'application/json', 'idempotency-key': keyOfTask(job) },
          // RFC 9530.
          'content-digest': `sha-256=:${digest.digest('base64')}:`,
        },
        body,
      },
      new AbortController().signal,
    )
    const request = `${method} /${path}`
    const text = target.is_answer_kept ? answer.body.toString().toWellFormed() : ''
    requireAcknowledgement(request, answer.status, text)
    const { status, media_type } = answer
    const duration_ms = Math.round(performance.now() - begun)
    const response: CapturedResponse = { request, status, is_error: false, media_type, body: text, duration_ms }
    await landResponse(place, response, { name: target.name, bytes: Buffer.byteLength(body), sha256 })
    return [
      `${request}: the target ${target.name} acknowledged ${status} the payload of SHA-256 ${sha256}`,
      ...(target.is_answer_kept
        ? describeReference(text, reference)
        : ['its answer is not kept: the target has a higher label than the run']),
    ]
  })
}

/** Of another status the next try may see the end, where it says so itself. */
function requireAcknowledgement(request: string, status: number, text: string): void {
  if (status >= 200 && status < 300) return
  const isPassing = status >= 500 || [408, 409, 425, 429].includes(status)
  throw new RowSourceError(
    `${request}: the target did not acknowledge it: ${status}${describeProblem(text)}`,
    !isPassing,
  )
}

function describeReference(text: string, path: string | undefined): string[] {
  if (path === undefined) return []
  const body = parseJson(text) as JsonValue | undefined
  return [`its reference there: ${showValue(path, body === undefined ? undefined : readKeyPath(body, path))}`]
}
