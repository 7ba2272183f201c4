// Rules of a cursor: one run reads from it at a time, and it moves to a dataset that was read from where it is.
import type { DatasetRef, LandedCursor } from '../dataset/model.ts'
import type { CursorHolder, StoredReadCursor } from './model.ts'

export type LandedReading = DatasetRef & { readonly cursor: LandedCursor }

/**
 * Gives the cursor to a run. `seen`: the holder that is known to be done, and `landed`: what it landed. Undefined where another run has
 * taken it meanwhile.
 */
export function takeCursor(
  cursor: StoredReadCursor,
  own: CursorHolder,
  seen: CursorHolder | undefined,
  landed: LandedReading | undefined,
): StoredReadCursor | undefined {
  const { holder } = cursor
  if (holder?.dataset === own.dataset) return cursor
  if (holder?.dataset !== seen?.dataset) return undefined
  return { ...advance(cursor, landed), holder: own }
}

/** Moves the cursor of a run to what it landed, and frees it. The same value where the run does not hold it. */
export function moveCursor(cursor: StoredReadCursor, own: CursorHolder, landed: LandedReading): StoredReadCursor {
  if (cursor.holder?.dataset !== own.dataset) return cursor
  const { holder: _holder, ...free } = advance(cursor, landed)
  return free
}

/** A dataset that was read from elsewhere leaves it: the cursor is beyond, or that of another source. */
function advance(cursor: StoredReadCursor, landed: LandedReading | undefined): StoredReadCursor {
  if (!landed || landed.cursor.of !== cursor.of || landed.cursor.after !== cursor.landed?.digest) return cursor
  const { dataset, digest } = landed
  const { settled } = landed.cursor
  return { ...cursor, landed: { dataset, digest, ...(settled && { settled }) } }
}
