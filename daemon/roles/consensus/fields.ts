// Field schemas that several records of the consensus role share.
import * as z from 'zod'

export const shortText = z.string().min(1).max(256)

/** A number in [0, 1]. */
export const fraction = z.number().min(0).max(1)
