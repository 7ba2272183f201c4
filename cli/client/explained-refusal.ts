// A refusal whose message is complete: it names what failed and the next step, and gets no title or remedy of its code.
import { type ErrorCode, Refusal } from '../../daemon/kernel/error/errors.ts'

export class ExplainedRefusal extends Refusal {
  constructor(code: ErrorCode, message: string) {
    super(code, message)
    this.name = 'ExplainedRefusal'
  }
}
