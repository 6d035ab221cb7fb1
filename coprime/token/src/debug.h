/* What the module does and why it fails, for whoever sets COPRIME_TOKEN_DEBUG: to 1 for standard
   error, or to the path of a file, to which lines are added. Never a PIN, a key or a message.
   Programs with rights that their user does not have ignore the variable. */
#ifndef COPRIME_TOKEN_DEBUG_H
#define COPRIME_TOKEN_DEBUG_H

/* Write a line, with the process in front of it. errno is kept. */
__attribute__((format(printf, 1, 2))) void debug_say(const char *format, ...);

#endif
