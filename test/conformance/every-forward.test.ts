// Runs each requirement of forwarding for each protocol of the listener, before one upstream and before a pool.
import { forwardRequirements } from './forward.ts'
import { testForwarders } from './forward-variants.ts'

testForwarders(forwardRequirements)
