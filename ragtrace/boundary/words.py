"""Words that tell, at a cut without a stop, whether a sentence goes on or a new one starts."""

_LEADING_ON = """
a an the of and or nor but to from by with at for in on into onto upon than that which who whom
whose if because although though unless until while when where whether as is are was were be
been being am has have had having do does did will would shall should can could may might must
not no very more most such my your his her its our their this these those every each any some
between among through during about against under over per via like so it's i'm we're they're
you're don't doesn't i we they he she let's der die das und oder le la les et de des el los y
del
"""
_STARTING = """
The This These Those That There Here It Its We They He She You Our Your My His Her Their If When
While As In On At For From With Without But And So Or Yet Please Thanks Thank Hi Hello Hey Dear
Regards Best Sincerely Cheers No Yes Not What Why How Who Where Which Just Some All Any Most
Many Each Every After Before Because Although Since Once Now Then Also However Therefore Let
Let's It's I've I'm I'll I'd Don't You'll You're We're We've They're They've There's That's See
Note An To By Do Does Did Can Could Would Should Is Are Was Were Have Has Had Look Hope Attached
Currently First Finally Nothing Everything Someone One Two Another Such Under Over During
Despite Unlike Instead Perhaps Maybe Well Oh Ok Okay
"""

LEADING_ON = frozenset(_LEADING_ON.split())
"""A sentence seldom ends with one of these."""

STARTING = frozenset(_STARTING.split())
"""With a capital and no name before it, one of these starts a sentence."""
