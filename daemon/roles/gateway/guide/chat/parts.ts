// Part of the guidance layer: its own model, which is never that of the chat of everybody.
import type { ChatModel } from '../../../../kernel/model/chat-model.ts'
import { part } from '../../../../kernel/role/part.ts'

/** Undefined where the profile names none. */
export type GuideModel = { readonly model: ChatModel; readonly name: string } | undefined

export const guideModelPart = part<{ readonly own: GuideModel }>('guide-model')
