// Errors of a service that are answers: a document that does not exist, and a list that the service does not have.
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, SdkHttpError } from '@modelcontextprotocol/client'
import * as z from 'zod'
import { readStrictJson } from '../../../daemon/kernel/encoding/strict-json.ts'

/** The answer of a request in place of one of its errors. */
export type ErrorAnswer<T> = { readonly isFor: (error: unknown) => boolean; readonly answer: T }

const isOfCode = (error: unknown, code: ProtocolErrorCode) => error instanceof ProtocolError && error.code === code

/** With the code of former revisions too, and there without the URI. */
export function whereNotFound<T>(answer: T): ErrorAnswer<T> {
  const isFor = (error: unknown) =>
    error instanceof ResourceNotFoundError || isOfCode(error, ProtocolErrorCode.ResourceNotFound)
  return { isFor, answer }
}

export function whereUnknownMethod<T>(answer: T): ErrorAnswer<T> {
  return { isFor: (error) => isOfCode(error, ProtocolErrorCode.MethodNotFound) || isUnknownByStatus(error), answer }
}

const errorBody = z.object({ error: z.object({ code: z.literal(ProtocolErrorCode.MethodNotFound) }) })

/** The revision without sessions answers it with status 404, of which the library passes on the body alone. */
function isUnknownByStatus(error: unknown): boolean {
  if (!(error instanceof SdkHttpError) || error.status !== 404) return false
  const read = readStrictJson(String(error.data.text), { max_depth: 8 })
  return read.outcome === 'value' && errorBody.safeParse(read.value).success
}
