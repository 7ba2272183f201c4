// The requirements of unread-answers.test.ts on a listener that forwards as well.
import '../support/echo/share-listener.ts'
import './unread-answers.test.ts'
