// The requirements of streams.test.ts on a listener that forwards as well.
import '../support/echo/share-listener.ts'
import './streams.test.ts'
