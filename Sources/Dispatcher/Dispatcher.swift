// Dispatcher
