// Secrets in requests: a field that is written and never shown, and a value that no log, answer or digest can print.
import * as z from 'zod'
import { redacted_text } from './redact-text.ts'
import { max_secret_bytes } from './sealed-secret.ts'

/** A secret in memory. Only `reveal` returns it; printing, JSON, digests and copies do not. */
export class SecretText {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  reveal(): string {
    return this.#text
  }

  toString(): string {
    return redacted_text
  }

  toJSON(): string {
    return redacted_text
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return redacted_text
  }
}

/**
 * A field of an input that takes a secret of at most `max_characters`. OpenAPI shows it as `writeOnly`. The digest of
 * a request leaves it out: a stored digest would let a reader test guesses of a password.
 */
export function secretText(max_characters = max_secret_bytes / 4) {
  return (
    z
      .string()
      .max(max_characters)
      // Its bytes would be others than those that the caller meant.
      .refine((text) => text.isWellFormed(), 'must be valid Unicode')
      .refine((text) => Buffer.byteLength(text) <= max_secret_bytes, `must have at most ${max_secret_bytes} bytes`)
      .transform((text) => new SecretText(text))
      .meta(secretFieldMeta)
  )
}

export const secretFieldMeta = { format: 'password', writeOnly: true } as const
