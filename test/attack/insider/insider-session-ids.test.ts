// A peer that holds its own keys, and the ids of its sessions: none takes the place of another site's.
import { describeInsiderAttacks } from './describe-insider-attacks.ts'
import { sessionIdAttacks } from './session-id-attacks.ts'

describeInsiderAttacks('the ids of its sessions', sessionIdAttacks)
