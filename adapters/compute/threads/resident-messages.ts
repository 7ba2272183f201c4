// The messages between a resident thread and the process that started it.
import type { ErrorCode } from '../../../daemon/kernel/error/errors.ts'

export type ResidentRequest =
  | { readonly kind: 'job'; readonly job: number; readonly input: unknown; readonly max_compute_ms: number }
  | { readonly kind: 'cancel'; readonly job: number }
  | { readonly kind: 'answer'; readonly job: number; readonly query: number; readonly value: unknown }
  | { readonly kind: 'ping' }

export type ResidentReply =
  | { readonly kind: 'done'; readonly job: number; readonly value: unknown }
  | { readonly kind: 'failed'; readonly job: number; readonly failure: ResidentFailure }
  | { readonly kind: 'query'; readonly job: number; readonly query: number; readonly value: unknown }
  | { readonly kind: 'pong' }

/** A refusal loses its class between threads, so its parts cross. */
export type ResidentFailure =
  | { readonly refused: ErrorCode; readonly message: string }
  | { readonly error: string; readonly stack: string | undefined }
