// Runs the requirements of forwarding that move megabytes, for each protocol and kind of upstream.
import { forwardFlowRequirements } from './forward.ts'
import { testForwarders } from './forward-variants.ts'

testForwarders(forwardFlowRequirements)
