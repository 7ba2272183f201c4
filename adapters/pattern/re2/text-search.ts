// Expressions of RE2: searched in time proportional to the text, whatever the expression and the text are.
import { RE2JS, RE2JSException } from 're2js'
import type { TextSearch } from '../../../daemon/kernel/text/text-search.ts'

/** `fault`: why RE2 cannot compile the text, such as one with a reference back. */
export function compileSearch(expression: string): TextSearch | { readonly fault: string } {
  try {
    const compiled = RE2JS.compile(expression)
    return { isFoundIn: (text) => compiled.test(text) }
  } catch (error) {
    if (error instanceof RE2JSException) return { fault: error.message }
    throw error
  }
}
