// A peer that holds its own keys, and the channel: no lie has an effect, and each has its alarm.
import { channelAttacks } from './channel-attacks.ts'
import { describeInsiderAttacks } from './describe-insider-attacks.ts'

describeInsiderAttacks('the channel', channelAttacks)
