// Awaits a change that another process may have made unnecessary.
import { isRefusal } from '../../kernel/error/errors.ts'

/** Undefined: another process has changed or removed the document. */
export async function settle<T>(change: Promise<T>): Promise<T | undefined> {
  try {
    return await change
  } catch (error) {
    if (isRefusal(error) && (error.code === 'conflict' || error.code === 'not_found')) return undefined
    throw error
  }
}
