// Embeddings behind an OpenAI-compatible endpoint: `/embeddings`, bounded in time and size, without redirects.
import * as z from 'zod'
import { parseJsonAs } from '../../../daemon/kernel/encoding/parse-json.ts'
import { isRefusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import {
  type EmbeddingModel,
  type EmbeddingRequest,
  max_embedding_dimension,
} from '../../../daemon/kernel/model/embedding-model.ts'
import { abortRefusal } from '../../../daemon/kernel/operation/until-aborted.ts'
import { traceparentOf } from '../../../daemon/kernel/telemetry/trace.ts'
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import { HttpClient } from '../../platform/http-client/http-client.ts'
import { HttpClientError } from '../../platform/http-client/http-client-error.ts'

export type EmbeddingModelOptions = {
  /** `/embeddings` is added to it. */
  readonly url: string
  readonly model: string
  readonly api_key: string | undefined
  readonly rule: AddressRule
  /** Authorities in PEM instead of the machine's. */
  readonly ca: string | undefined
  readonly timeout_ms: number
}

/** A number takes some 20 characters. */
const max_answer_bytes = 262_144

const answerBody = z.object({
  data: z
    .array(z.object({ embedding: z.array(z.number()).min(1).max(max_embedding_dimension) }))
    .min(1)
    .max(1),
})

export function openAiEmbeddingModel(options: EmbeddingModelOptions): EmbeddingModel {
  const { rule, ca, timeout_ms, model } = options
  const client = new HttpClient({ rule, ca, connect_timeout_ms: timeout_ms })
  return {
    name: model,
    async embed(request) {
      try {
        return await requestEmbedding(client, options, request)
      } catch (error) {
        throw describeFailure(error, request.signal)
      }
    },
  }
}

async function requestEmbedding(
  client: HttpClient,
  { url, model, api_key, timeout_ms }: EmbeddingModelOptions,
  { text, signal, trace }: EmbeddingRequest,
): Promise<readonly number[]> {
  const response = await client.send(`${url.replace(/\/+$/, '')}/embeddings`, {
    method: 'POST',
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      traceparent: traceparentOf(trace),
      ...(api_key === undefined ? {} : { authorization: `Bearer ${api_key}` }),
    },
    body: JSON.stringify({ model, input: text.toWellFormed(), encoding_format: 'float' }),
    signal,
    limits: { total_ms: timeout_ms },
  })
  if (response.status !== 200) {
    // Its text stays unread: an endpoint may repeat the key in it.
    response.destroy()
    throw refuse('unavailable', `the model of the embeddings answered ${response.status}`)
  }
  const body = parseJsonAs(answerBody, await response.readBytes(max_answer_bytes))
  const vector = body?.data[0]?.embedding
  if (!vector?.some((value) => value !== 0))
    throw refuse('unavailable', 'the answer of the model of the embeddings is not one of /embeddings')
  return vector
}

/** Without the address, and without any text of the endpoint. */
function describeFailure(error: unknown, signal: AbortSignal): unknown {
  if (isRefusal(error)) return error
  if (signal.aborted) return abortRefusal(signal)
  if (!(error instanceof HttpClientError)) return error
  const { failure, code } = error
  if (failure === 'timeout' || failure === 'idle') return refuse('timeout', 'the model of the embeddings took too long')
  if (failure === 'too_large') return refuse('unavailable', 'the answer of the model of the embeddings is too large')
  return refuse('unavailable', `the model of the embeddings cannot be reached (${code ?? failure})`)
}
