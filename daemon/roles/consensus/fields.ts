// Field schemas that several records of the consensus role share.
import * as z from 'zod'
import { requiredText } from '../../kernel/operation/required-text.ts'

export const shortText = requiredText(256)

/** A number in [0, 1]. */
export const fraction = z.number().min(0).max(1)
