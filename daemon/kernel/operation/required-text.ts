// A text that a person must give: blanks alone are none.
import * as z from 'zod'

export function requiredText(most_characters: number): z.ZodString {
  return z.string().min(1).max(most_characters).regex(/\S/, 'must not be blank')
}
