// A store of objects behind a connection: the contract of its adapters, one for each technology.
import { RowSourceError } from '../row-source/row-source.ts'

/** An object as a listing has it. Its key is of strangers: never a path here. */
export type StoredObject = {
  readonly key: string
  readonly bytes: number
  /** Another one for each content of a key: an ETag or a generation. */
  readonly version: string
  /** How the store addresses it, where that is not by its key. */
  readonly id?: string
}

/** `next`: where the listing goes on. Absent: this is its end. */
export type ObjectPage = { readonly objects: readonly StoredObject[]; readonly next?: string }

export interface ObjectSource {
  /** Lists a little below the prefix, beside which the secret may open nothing; says what the source is. Throws `RowSourceError`. */
  probe(prefix: string, signal: AbortSignal): Promise<string>
  /** A page of the objects whose keys begin with the prefix. Throws `RowSourceError`, and the reason of the signal. */
  listPage(prefix: string, from: string | undefined, signal: AbortSignal): Promise<ObjectPage>
  /**
   * The content from a byte on, of this version alone. May end early, or give more: the caller counts. Throws `ObjectChangedError` where the
   * object has another version or is gone, `RowSourceError`, and the reason of the signal.
   */
  readObject(object: StoredObject, from: number, signal: AbortSignal): AsyncIterable<Uint8Array>
  /**
   * Called once all of an object was read: throws `ObjectChangedError` where it has another version by now. Absent where a reading has the
   * condition itself.
   */
  confirmObject?(object: StoredObject, signal: AbortSignal): Promise<void>
  close(): void
}

/** An object is not what the listing said. Another try lists again. */
export class ObjectChangedError extends RowSourceError {
  constructor(key: string) {
    super(`the object ${nameObject(key)} changed after it was listed`, false)
    this.name = 'ObjectChangedError'
  }
}

const max_shown = 128

/** A key in a message: cut, and as JSON. */
export function nameObject(key: string): string {
  const shown = key.length > max_shown ? `${key.slice(0, max_shown)}…` : key
  return JSON.stringify(shown.toWellFormed())
}
