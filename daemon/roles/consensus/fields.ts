// Field schemas that several records of the consensus role share.
import * as z from 'zod'
import { requiredText } from '../../kernel/operation/required-text.ts'

export const shortText = requiredText(256)

/** A number in [0, 1]. */
export const fraction = z.number().min(0).max(1)

/** Id of an evidence block: the SHA-256 of its canonical content. */
export const blockId = z.string().regex(/^[0-9a-f]{64}$/)

/** Most blocks that a statement, or a person who attests, may name as parents. */
export const max_parent_blocks = 64

export const parentBlocks = z.array(blockId).max(max_parent_blocks)
