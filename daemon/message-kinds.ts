// The kinds of messages that this version knows, joined from the outlines of all roles.
import { joinMessageKinds } from './kernel/messaging/message-kind.ts'
import { roles } from './roles.ts'

export const messageKinds = joinMessageKinds(roles)
